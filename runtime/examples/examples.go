// Package examples reads the runnable examples of operations and functions.
package examples

import (
	"embed"
	"maps"
	"regexp"
	"strings"
	"sync"
)

// Example is runnable Lua code, with its Preamble first.
type Example struct{ Preamble, Code string }

// Text returns the complete example.
func (e Example) Text() string { return strings.TrimLeft(e.Preamble+"\n\n"+e.Code, "\n") }

var (
	known   sync.Map // embed.FS to map[string]Example
	heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^-- (\w+[.:]\w+)\n`) })
)

// Of reads the files examples/*.lua, one for each manager or module, and returns the examples by
// name. A line "-- projects.create", or "-- task:await" for a method, begins an example; all examples of a
// file share the code before the first as their preamble. Tests run every one of them.
func Of(sources ...embed.FS) map[string]Example {
	all := map[string]Example{}
	for _, files := range sources {
		own, ok := known.Load(files)
		if !ok {
			own, _ = known.LoadOrStore(files, read(files))
		}
		maps.Copy(all, own.(map[string]Example))
	}
	return all
}

func read(files embed.FS) map[string]Example {
	examples := map[string]Example{}
	entries, err := files.ReadDir("examples")
	for _, entry := range entries {
		var text []byte
		if text, err = files.ReadFile("examples/" + entry.Name()); err != nil {
			break
		}
		headings := heading().FindAllSubmatchIndex(text, -1)
		preamble := strings.TrimSpace(string(text[:headings[0][0]]))
		for i, h := range headings {
			end := len(text)
			if i+1 < len(headings) {
				end = headings[i+1][0]
			}
			examples[string(text[h[2]:h[3]])] = Example{preamble, strings.TrimSpace(string(text[h[1]:end]))}
		}
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return examples
}
