package reference

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Replace writes files into a folder that holds nothing else of their kind: a
// file of the same extension that is not among them is left from an earlier
// time, and removed. Files without the mark, if there is one, are kept.
func Replace(dir string, files []File, extension, mark string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil {
		return err
	}
	for _, path := range old {
		current := slices.ContainsFunc(files, func(f File) bool { return f.Path == filepath.Base(path) })
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !current && strings.Contains(string(text), mark) {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return Write(dir, files)
}

// Write writes files below a folder, with the folders they need.
func Write(dir string, files []File) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(f.Text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
