package repl

import (
	"regexp"
	"strings"
	"sync"
)

// colours are escape sequences of the terminal, empty without colours.
type colours struct{ bold, text, number, word, dim, off string }

func (s *Session) colours() colours {
	if !s.cfg.Colours {
		return colours{}
	}
	return colours{bold: "\x1b[1m", text: "\x1b[32m", number: "\x1b[36m", word: "\x1b[35m", dim: "\x1b[2m", off: "\x1b[0m"}
}

func (c colours) head(line string) string { return c.bold + line + c.off }

func (c colours) quoted(line string) string { return c.text + line + c.off }

// literals matches the values in a formatted line: texts, numbers, words of Lua.
var literals = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:\\.|[^"\\])*"?|\b(?:true|false|nil)\b|[-]?\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b`)
})

// values colours the literals of a line.
func (c colours) values(line string) string {
	return literals().ReplaceAllStringFunc(line, func(found string) string {
		switch {
		case strings.HasPrefix(found, `"`):
			return c.text + found + c.off
		case found == "true" || found == "false" || found == "nil":
			return c.word + found + c.off
		}
		return c.number + found + c.off
	})
}
