package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"transect/client/fault"
	"transect/client/internal/keyring"
	"transect/client/schema"
	"transect/client/suggest"
)

const configName = "config-connection.json"

// defaultConfigs returns the paths tried when no configuration file is named:
// in our own folder, then in the folder of the platform's Python client, whose
// files have the same form.
func defaultConfigs() []string {
	other := filepath.Join(xdg.DataHome, "alteia", configName)
	if runtime.GOOS == "windows" {
		other = filepath.Join(xdg.DataHome, "Alteia", "alteia", configName)
	}
	return []string{filepath.Join(xdg.ConfigHome, "transect", configName), other}
}

// SameHost reports whether an address belongs to the platform which a
// configuration file, or its profile, names.
func SameHost(address, config, profile string) bool {
	file, err := Settings{ConfigPath: config, Profile: profile, Password: "given"}.readFile() // skips the keyring
	return err == nil && file.URL != "" && origin(address) == origin(file.URL)
}

func (s Settings) readFile() (Settings, error) {
	path, text, err := readConfig(s.ConfigPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, fault.Hinted(fault.Of(&fault.ConfigError{}, "configuration file %s does not exist", path),
			"check --config or TRANSECT_CONFIG")
	case err != nil:
		return s, fault.Of(&fault.ConfigError{}, "configuration file %s cannot be read: %w", path, errors.Unwrap(err))
	case path != "":
		settings, err := parseConfig(path, text, s.Profile)
		settings.ConfigFile = path
		if err == nil {
			err = settings.readKeyring(s)
		}
		return settings, err
	}
	if s.Profile != "" {
		return s, fault.Hinted(fault.Of(&fault.ConfigError{}, "profile %s: there is no configuration file", s.Profile),
			"transect login --profile %[1]s creates one on this machine; or name the file with --config FILE", s.Profile)
	}
	return Settings{}, nil
}

// readConfig reads the configuration file that is named, or else the first of the
// default ones; found is "" when there is none.
func readConfig(named string) (found string, text []byte, err error) {
	paths := []string{named}
	if named == "" {
		paths = defaultConfigs()
	}
	for _, path := range paths {
		path = expandHome(path)
		text, err := os.ReadFile(path)
		if named != "" || !errors.Is(err, fs.ErrNotExist) {
			return path, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), err
		}
	}
	return "", nil, nil
}

func parseConfig(path string, text []byte, profile string) (Settings, error) {
	var file struct {
		configEntry
		Profiles map[string]json.RawMessage `json:"profiles"`
	}
	if err := DecodeConfig(path, text, text, &file); err != nil {
		return Settings{}, err
	}
	if err := checkKeys(path, text); err != nil {
		return Settings{}, err
	}
	if profile == "" {
		return file.settings(), nil
	}
	entry, ok := file.Profiles[profile]
	if !ok {
		return Settings{}, fault.Hinted(fault.Of(&fault.ConfigError{}, "configuration file %s has no profile %s", path,
			profile),
			"%s", strings.TrimSpace(suggest.Hint(profile,
				slices.Sorted(maps.Keys(file.Profiles)))+" transect login --profile "+profile+" makes it"))
	}
	err := checkKeys(path, entry)
	var own configEntry
	if err == nil {
		err = DecodeConfig(path, text, entry, &own)
	}
	top := file.settings()
	if err == nil {
		err = json.Unmarshal(entry, &file.configEntry)
	}
	settings := file.settings()
	if own.URL != "" && top.URL != "" && origin(own.URL) != origin(top.URL) {
		settings.applyLogin(own.settings(), top, path, profile)
	}
	return settings, err
}

// applyLogin copies only the login of a profile: settings outside the profiles belong to another platform, except
// the user name.
func (s *Settings) applyLogin(own, top Settings, path, profile string) {
	s.User, s.Password, s.ClientID, s.ClientSecret, s.AccessToken, s.Keyring = own.User, own.Password, own.ClientID,
		own.ClientSecret, own.AccessToken, own.Keyring
	switch {
	case own.User != "" || own.ClientID != "" || own.AccessToken != "":
	case top.User != "" && own.ClientSecret == "":
		s.User = top.User
	default:
		s.ClientID = top.ClientID
	}
	top.ConfigFile = path
	if why := top.withhold(own.URL); why != "" {
		s.withheld = fmt.Sprintf("%s, not for profile %s", why, profile)
	}
}

// configEntry is a configuration file, or one of its profiles.
type configEntry struct {
	Settings
	Secret string `json:"secret"` // client_secret, as revision 3 spells it
}

func (e configEntry) settings() Settings {
	e.ClientSecret = cmp.Or(e.ClientSecret, e.Secret)
	return e.Settings
}

// DecodeConfig decodes part of a configuration file. Its errors have line and column.
func DecodeConfig(path string, whole, part []byte, into any) error {
	err := json.Unmarshal(part, into)
	if err == nil {
		return nil
	}
	offset, reason := int64(0), err.Error()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	} else if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset, reason = wrong.Offset, fmt.Sprintf("%s must be %s, got %s", wrong.Field, wrong.Type, wrong.Value)
	}
	if at := bytes.Index(whole, part); at > 0 {
		offset += int64(at)
	}
	line, column := position(whole, offset)
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "configuration file %s, line %d, column %d: %v", path, line,
		column, reason),
		"it is a JSON object with keys such as url, user, password, client_id, client_secret; correct it, or delete it and "+
			"log in again: transect login")
}

// position turns an offset, the number of bytes read, into line and column.
func position(text []byte, offset int64) (line, column int) {
	offset = max(0, min(offset-1, int64(len(text))))
	before := text[:offset]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

func expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}

// Profiles lists the entries of the configuration file's profiles, sorted: of
// the file at path, or of the default one when path is empty. A file that
// cannot be read has none.
func Profiles(path string) []string {
	var file struct {
		Profiles map[string]json.RawMessage `json:"profiles"`
	}
	_, text, err := readConfig(path)
	if err != nil || json.Unmarshal(text, &file) != nil {
		return nil // connecting reports what is wrong with it
	}
	return slices.Sorted(maps.Keys(file.Profiles))
}

// checkKeys refuses a misspelt key of a configuration file: it would be ignored,
// and something else be used. Keys that are no misspelling of ours belong to
// other programs.
func checkKeys(path string, text []byte) error {
	for _, key := range unknownKeys(text) {
		near := suggest.Misspelt(key, knownKeys())
		for _, valid := range knownKeys() {
			if near == "" && len(key) >= 4 && (strings.HasPrefix(key, valid) || strings.HasPrefix(valid, key)) {
				near = valid // username, pass
			}
		}
		if near != "" {
			return fault.Hinted(fault.Of(&fault.ConfigError{}, "configuration file %s: unknown key %s", path, key),
				"did you mean %s?", near)
		}
	}
	return nil
}

// nameKeys adds the unknown keys of the configuration file to an error about
// settings that are missing.
func nameKeys(path string, err error) error {
	text, unread := os.ReadFile(path)
	f := fault.Find(err)
	if unread != nil || f == nil {
		return err
	}
	if keys := unknownKeys(text); len(keys) > 0 {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s; the configuration file %s has unknown keys: %s",
			f.Facts().Message, path, strings.Join(keys, ", ")),
			"the keys are %s", strings.Join(knownKeys(), ", "))
	}
	return err
}

func knownKeys() []string {
	keys := []string{"profiles", "secret"}
	t := reflect.TypeFor[Settings]()
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "-" && name != "" {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return keys
}

func unknownKeys(text []byte) []string {
	var object map[string]any
	_ = json.Unmarshal(text, &object) // reported where it is decoded
	valid := knownKeys()
	return slices.DeleteFunc(schema.SortedKeys(object), func(key string) bool { return slices.Contains(valid, key) })
}

// Secret returns a login's secret: its key in the configuration file, its
// account in the keyring, and the value.
func (s *Settings) Secret() (key, account string, value *string) {
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
	key, account, value := s.Secret()
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
