package reference

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:generate go run transect/cmd/transect doc --markdown ../../docs/reference
//go:generate go test -count=1 -vet=off -run ^TestSchemas$ transect/cmd/transect -write

// File is a file to be written; its path has slashes.
type File struct {
	Path string
	Text string
}

// MetaFolder is the folder of a project with the definitions for editors.
const MetaFolder = ".transect/meta"

//go:embed all:project
var project embed.FS

// Project returns the first files of a project.
func Project() []File {
	var files []File
	err := fs.WalkDir(project, "project", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := project.ReadFile(path)
		files = append(files, File{strings.TrimPrefix(path, "project/"), string(text)})
		return err
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return files
}

// Refresh writes the definitions to a folder and removes obsolete ones.
func Refresh(dir string) error { return Replace(dir, New().Definitions(), ".lua", generated) }

// Replace writes files to a folder and removes all other files with the
// extension that contain the mark.
func Replace(dir string, files []File, extension, mark string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	old, err := fs.Glob(os.DirFS(dir), "*"+extension)
	if err != nil {
		return err
	}
	for _, name := range old {
		path := filepath.Join(dir, name)
		current := slices.ContainsFunc(files, func(f File) bool { return f.Path == name })
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

// Write writes files below a folder and creates the folders they need.
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
