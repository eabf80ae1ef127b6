package jobs

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Plain is a text of others on one line, without what a terminal obeys and a database
// refuses.
func Plain(text string) string {
	return strings.Map(func(c rune) rune {
		if obeyed(c) || c == '\t' || c == '\r' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// obeyed reports a character that changes how a terminal shows others.
func obeyed(c rune) bool {
	return unicode.IsControl(c) && c != '\t' && c != '\r' || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069
}

var sequence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b\\[[0-9;]*m|[\\x{202a}-\\x{202e}\\x{2066}-\\x{2069}]|[^\\P{Cc}\t\r]")
})

// PlainLine is a line of output without what a terminal obeys, but for colours, tabs
// and the carriage returns of progress bars.
func PlainLine(line string) string {
	line = strings.ToValidUTF8(line, "\uFFFD")
	if !strings.ContainsFunc(line, obeyed) {
		return line
	}
	return sequence().ReplaceAllStringFunc(line, func(s string) string {
		if len(s) > 2 && strings.HasSuffix(s, "m") {
			return s
		}
		return ""
	})
}
