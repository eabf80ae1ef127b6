package human

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a terminal or a browser obeys a character instead of showing it: a control
// character, or one that changes the direction of the following text.
func Hidden(c rune) bool {
	return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
}

// Visible escapes hidden characters and bytes that are not UTF-8, as \x1b or \u202e, except for
// tabs and line ends, so that names and messages of others never move the cursor, clear the screen
// or appear as something else.
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

// Line is like Visible, on one line, for a cell of a table.
func Line(text string) string { return Visible(oneLine.Replace(text)) }

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ", "\r", " ")
