package bindings

import (
	"embed"
	"regexp"
	"strings"
	"sync"
)

// The examples of the operations, a file a manager. A line "-- manager.operation"
// begins the example of that operation; what stands before the first one is
// the preamble they all begin with. A test runs every one of them.
//
//go:embed examples/*.lua
var exampleFiles embed.FS

var exampleHeading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^-- ([a-z0-9_]+\.[a-z0-9_]+)\n`) })

// Example returns the example of an operation, to be run behind its manager's
// Preamble; "" when there is none.
func Example(operation string) string { return examples().sections[operation] }

// Preamble returns what the examples of a manager begin with.
func Preamble(manager string) string { return examples().preambles[manager] }

// Examples lists the operations that have an example.
func Examples() []string {
	var names []string
	for name := range examples().sections {
		names = append(names, name)
	}
	return names
}

type exampleSet struct{ sections, preambles map[string]string }

var examples = sync.OnceValue(func() exampleSet {
	set := exampleSet{map[string]string{}, map[string]string{}}
	entries, err := exampleFiles.ReadDir("examples")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	for _, entry := range entries {
		text, err := exampleFiles.ReadFile("examples/" + entry.Name())
		if err != nil {
			panic(err)
		}
		set.add(strings.TrimSuffix(entry.Name(), ".lua"), string(text))
	}
	return set
})

func (s exampleSet) add(manager, text string) {
	places := exampleHeading().FindAllStringSubmatchIndex(text, -1)
	end := len(text)
	for i := len(places) - 1; i >= 0; i-- {
		at := places[i]
		s.sections[text[at[2]:at[3]]] = strings.TrimSpace(text[at[1]:end])
		end = at[0]
	}
	s.preambles[manager] = strings.TrimSpace(text[:end])
}
