package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"slices"
)

// Profiles lists the entries of the configuration file's profiles, sorted: of
// the file at path, or of the default one when path is empty. A file that
// cannot be read has none.
func Profiles(path string) []string {
	paths := []string{path}
	if path == "" {
		paths = defaultConfigs()
	}
	for _, path := range paths {
		text, err := os.ReadFile(expandHome(path))
		if err != nil {
			continue
		}
		var file struct {
			Profiles map[string]json.RawMessage `json:"profiles"`
		}
		if json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &file) != nil {
			return nil // connecting tells what is wrong with it
		}
		var names []string
		for name := range file.Profiles {
			names = append(names, name)
		}
		slices.SortFunc(names, cmp.Compare)
		return names
	}
	return nil
}
