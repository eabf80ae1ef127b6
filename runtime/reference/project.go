package reference

import (
	"embed"
	"slices"
	"strings"
)

// MetaFolder is where a project keeps the definitions for editors.
const MetaFolder = ".transect/meta"

//go:embed project
var project embed.FS

// Project returns the files a project folder starts with.
func Project() []File {
	var files []File
	for path, source := range map[string]string{"main.lua": "main.lua", "main_test.lua": "main_test.lua", "README.md": "README.md", ".luarc.json": "luarc.json"} {
		text, err := project.ReadFile("project/" + source)
		if err != nil {
			panic(err) // the files are part of the program
		}
		files = append(files, File{path, string(text)})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// Refresh writes the definitions into a folder, and removes those of managers
// and modules that are no more.
func Refresh(dir string) error { return Replace(dir, New().Definitions(), ".lua", generated) }
