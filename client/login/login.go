// Package login keeps logins in configuration files and the keyring of the system.
package login

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"transect/client"
	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/internal/keyring"
)

// keys are those of a login in a configuration file.
var keys = []string{"url", "user", "password", "client_id", "client_secret", "secret", "access_token", "keyring"}

// Keep writes a login into a configuration file, replacing the one that is
// there, or as one of its profiles. The secret goes to the system's keyring if
// there is one (inKeyring is true), else into the file. Only the user can read
// the file.
func Keep(path, profile string, login client.Settings) (inKeyring bool, err error) {
	entry := map[string]any{"url": login.URL}
	key, account, value := login.Secret()
	if login.User != "" {
		entry["user"] = login.User
	}
	if login.ClientID != "" {
		entry["client_id"] = login.ClientID
	}
	if login.User != "" && login.ClientID != "" {
		entry["client_secret"] = login.ClientSecret
	}
	if inKeyring = keyring.Set(account, *value) == nil; inKeyring {
		entry["keyring"] = true
	} else {
		entry[key] = *value
	}
	return inKeyring, change(path, profile, func(old map[string]any) error {
		for _, key := range keys {
			delete(old, key)
		}
		for key, value := range entry {
			old[key] = value
		}
		return nil
	})
}

// Forget removes a login from a configuration file and its secret from the
// keyring: both or neither. It returns what was removed; the URL is "" when there was
// no login.
func Forget(path, profile string) (gone client.Settings, err error) {
	err = change(path, profile, func(old map[string]any) error {
		for key, to := range map[string]*string{"url": &gone.URL, "user": &gone.User, "client_id": &gone.ClientID} {
			*to, _ = old[key].(string)
		}
		gone.Keyring = old["keyring"] == true
		for _, key := range keys {
			delete(old, key)
		}
		if !gone.Keyring {
			return nil
		}
		_, account, _ := gone.Secret()
		if err := keyring.Delete(account); err != nil {
			return fault.Hinted(fault.Of(&fault.ConfigError{},
				"the secret of %s cannot be removed from the system's keyring: %w", path, err),
				"nothing was removed: unlock the keyring, or log out in the session that logged in")
		}
		return nil
	})
	return gone, err
}

// change changes an entry of a configuration file; its other keys stay.
func change(path, profile string, set func(entry map[string]any) error) error {
	failed := func(err error) error {
		return fault.Of(&fault.ConfigError{}, "configuration file %s cannot be written: %w", path, fault.Reason(err))
	}
	file := map[string]any{}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fault.Of(&fault.ConfigError{}, "configuration file %s cannot be read: %w", path, fault.Reason(err))
	default:
		if err := client.DecodeConfig(path, text, text, &file); err != nil {
			return err
		}
	}
	entry := file
	if profile != "" {
		profiles, _ := file["profiles"].(map[string]any)
		if profiles == nil {
			profiles = map[string]any{}
			file["profiles"] = profiles
		}
		if entry, _ = profiles[profile].(map[string]any); entry == nil {
			entry = map[string]any{}
			profiles[profile] = entry
		}
		if err := set(entry); err != nil {
			return err
		}
		if len(entry) == 0 {
			delete(profiles, profile)
		}
		if len(profiles) == 0 {
			delete(file, "profiles")
		}
	} else if err := set(entry); err != nil {
		return err
	}
	if len(file) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed(err)
		}
		return nil
	}
	if text, err = json.MarshalIndent(file, "", "  "); err != nil {
		return failed(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return failed(err)
	}
	if err := atomicfile.Write(path, append(text, '\n'), 0o600); err != nil {
		return failed(err)
	}
	return os.Chmod(path, 0o600) // also a file that was there
}
