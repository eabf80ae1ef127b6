package module

import (
	"io/fs"
	"regexp"
	"strings"
)

// Example is runnable Lua code, with its Preamble first.
type Example struct{ Preamble, Code string }

// Text returns the complete example.
func (e Example) Text() string { return strings.TrimLeft(e.Preamble+"\n\n"+e.Code, "\n") }

// ReadExamples reads the files examples/*.lua, one for each manager or module, and returns the examples by
// name. A line "-- projects.create", or "-- task:await" for a method, begins an example; all examples of a
// file share the code before the first as their preamble. Tests run every one of them.
func ReadExamples(files fs.FS) map[string]Example {
	heading := regexp.MustCompile(`(?m)^-- (\w+[.:]\w+)\n`)
	examples := map[string]Example{}
	names, err := fs.Glob(files, "examples/*.lua")
	for _, name := range names {
		var text []byte
		if text, err = fs.ReadFile(files, name); err != nil {
			break
		}
		headings := heading.FindAllSubmatchIndex(text, -1)
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
