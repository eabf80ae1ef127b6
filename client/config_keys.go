package client

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
)

// checkKeys refuses a misspelt key of a configuration file: it would be ignored,
// and something else be used. Keys that are no misspelling of ours belong to
// other programs.
func checkKeys(path string, text []byte) error {
	for _, key := range unknownKeys(text) {
		near := suggest.Misspelt(key, knownKeys())
		for _, known := range knownKeys() {
			if near == "" && len(key) >= 4 && (strings.HasPrefix(key, known) || strings.HasPrefix(known, key)) {
				near = known // username, pass
			}
		}
		if near != "" {
			return fault.Hinted(fault.Of(&fault.ConfigError{}, "configuration file %s: unknown key %s", path, key), "did you mean %s?", near)
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
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s; the configuration file %s has unknown keys: %s", f.Facts().Message, path, strings.Join(keys, ", ")),
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
	known := knownKeys()
	return slices.DeleteFunc(schema.SortedKeys(object), func(key string) bool { return slices.Contains(known, key) })
}
