package human

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports a character that a terminal or a browser obeys instead of showing
// it: a control character, or one that changes the direction of what follows.
func Hidden(c rune) bool {
	return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
}

// Visible writes hidden characters and bytes that are not UTF-8 as escapes, \x1b and
// \u202e, but for tabs and line ends: names and messages of others never move the
// cursor, clear the screen or read as something else.
func Visible(text string) string {
	changed := func(c rune) bool { return Hidden(c) && c != '\n' && c != '\t' || c == utf8.RuneError }
	if !strings.ContainsFunc(text, changed) {
		return text
	}
	var b strings.Builder
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for i, c := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case c == '\n' || c == '\t' || !Hidden(c):
			b.WriteRune(c)
		case c < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// Line is Visible on one line: a cell of a table.
func Line(text string) string { return Visible(oneLine.Replace(text)) }

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ", "\r", " ")
