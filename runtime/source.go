package runtime

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"sync"
	"transect/runtime/vm"
)

const (
	mostPlaces    = 5   // of a stack trace, told to people
	longestSource = 160 // characters of a source line that are quoted
)

// place is a line of a script, with its text where that can be read.
type place struct {
	file   string
	line   int
	source string
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

// quotable is an error in a script that is no file: it brings the text along.
type quotable struct {
	error
	name, code string
}

func (q *quotable) Unwrap() error { return q.error }

func quoting(name, code string, err error) error {
	if err == nil {
		return nil
	}
	return &quotable{err, name, code}
}

// places quotes the lines of an error's stack trace.
func (w *World) places(err error) []place {
	var places []place
	files := map[string][]string{}
	var own *quotable
	if errors.As(err, &own) {
		files[own.name] = strings.Split(own.code, "\n")
	}
	for _, frame := range vm.Failure(err).Frames {
		at := place{file: frame.File, line: frame.Line}
		if len(places) == mostPlaces {
			break
		}
		if len(places) > 0 && places[len(places)-1].String() == at.String() {
			continue // one line, several calls
		}
		lines, read := files[frame.File]
		if !read {
			if text, err := os.ReadFile(w.path(frame.File)); err == nil {
				lines = strings.Split(string(text), "\n")
			}
			files[frame.File] = lines
		}
		if n := frame.Line; n > 0 && n <= len(lines) {
			at.source = quote(lines[n-1])
		}
		places = append(places, at)
	}
	return places
}

// secretText finds the texts given to settings that are secret, as scripts
// write them. Quoting the line must not put them into a log.
var secretText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(\w*(?:password|secret|token)\w*["'\]]*\s*=\s*)(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)`)
})

func quote(line string) string {
	line = secretText().ReplaceAllString(strings.TrimSpace(line), `${1}"…"`)
	if runes := []rune(line); len(runes) > longestSource {
		line = string(runes[:longestSource]) + " …"
	}
	return line
}
