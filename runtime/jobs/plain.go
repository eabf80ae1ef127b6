package jobs

import (
	"regexp"
	"strings"
	"sync"

	"transect/client/human"
)

var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) })

// PlainLine returns a line of output without control characters, except colours, tabs and the carriage
// returns of progress bars.
func PlainLine(line string) string {
	obeyed := func(c rune) bool { return human.Hidden(c) && c != '\t' && c != '\r' }
	line = strings.ToValidUTF8(line, "\uFFFD")
	if !strings.ContainsFunc(line, obeyed) {
		return line
	}
	shown := func(c rune) rune {
		if obeyed(c) {
			return -1
		}
		return c
	}
	var b strings.Builder
	at := 0
	for _, c := range colour().FindAllStringIndex(line, -1) {
		b.WriteString(strings.Map(shown, line[at:c[0]]) + line[c[0]:c[1]])
		at = c[1]
	}
	return b.String() + strings.Map(shown, line[at:])
}
