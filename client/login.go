package client

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/internal/keyring"
)

// The keys of a login in a configuration file.
var loginKeys = []string{"url", "user", "password", "client_id", "client_secret", "secret", "access_token", "keyring"}

// secret returns a login's secret: its key in the configuration file, its
// account in the keyring, and the value.
func (s *Settings) secret() (key, account string, value *string) {
	switch {
	case s.User != "":
		return "password", s.User + " " + s.URL, &s.Password
	case s.ClientID != "":
		return "client_secret", "client " + s.ClientID + " " + s.URL, &s.ClientSecret
	}
	return "access_token", "token " + s.URL, &s.AccessToken
}

// readKeyring completes the login of a file whose secret is in the keyring,
// unless another login was given.
func (s *Settings) readKeyring(given Settings) error {
	key, account, value := s.secret()
	other := given.URL != "" && origin(given.URL) != origin(s.URL) || given.User != "" && given.User != s.User ||
		given.ClientID != "" && given.ClientID != s.ClientID
	if !s.Keyring || *value != "" || other || given.Password != "" || given.ClientSecret != "" || given.AccessToken != "" {
		return nil
	}
	found, err := keyring.Get(account)
	if err != nil || found == "" {
		if err == nil {
			err = errors.New("it is not there")
		}
		return fault.Hinted(fault.Of(&fault.MissingCredentialsError{},
			"the %s of %s cannot be read from the system's keyring: %w", strings.ReplaceAll(key, "_", " "), s.ConfigFile, err),
			"unlock the keyring, or log in again with transect login; TRANSECT_KEYRING=off transect login keeps the secret in "+
				"the file, for cron")
	}
	*value = found
	return nil
}

// LoginFile returns the configuration file for logins: path, or the first
// default one.
func LoginFile(path string) string {
	if path == "" {
		path = defaultConfigs()[0]
	}
	return expandHome(path)
}

// KeepLogin writes a login into a configuration file, replacing the one that is
// there, or as one of its profiles. The secret goes to the system's keyring if
// there is one (inKeyring is true), else into the file. Only the user can read
// the file.
func KeepLogin(path, profile string, login Settings) (inKeyring bool, err error) {
	entry := map[string]any{"url": login.URL}
	key, account, value := login.secret()
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
	return inKeyring, changeLogin(path, profile, func(old map[string]any) error {
		for _, key := range loginKeys {
			delete(old, key)
		}
		for key, value := range entry {
			old[key] = value
		}
		return nil
	})
}

// ForgetLogin removes a login from a configuration file and its secret from the
// keyring: both or neither. It returns what was removed; the URL is "" when there was
// no login.
func ForgetLogin(path, profile string) (gone Settings, err error) {
	err = changeLogin(path, profile, func(old map[string]any) error {
		for key, to := range map[string]*string{"url": &gone.URL, "user": &gone.User, "client_id": &gone.ClientID} {
			*to, _ = old[key].(string)
		}
		gone.Keyring = old["keyring"] == true
		for _, key := range loginKeys {
			delete(old, key)
		}
		if !gone.Keyring {
			return nil
		}
		_, account, _ := gone.secret()
		if err := keyring.Delete(account); err != nil {
			return fault.Hinted(fault.Of(&fault.ConfigError{},
				"the secret of %s cannot be removed from the system's keyring: %w", path, err),
				"nothing was removed: unlock the keyring, or log out in the session that logged in")
		}
		return nil
	})
	return gone, err
}

// changeLogin changes an entry of a configuration file; its other keys stay.
func changeLogin(path, profile string, change func(entry map[string]any) error) error {
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
		if err := decodeConfig(path, text, text, &file); err != nil {
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
		if err := change(entry); err != nil {
			return err
		}
		if len(entry) == 0 {
			delete(profiles, profile)
		}
		if len(profiles) == 0 {
			delete(file, "profiles")
		}
	} else if err := change(entry); err != nil {
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
