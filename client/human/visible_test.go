package human_test

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"transect/client/human"
)

func TestHiddenCharactersAreShown(t *testing.T) {
	for text, want := range map[string]string{
		"North quarry":        "North quarry",
		"a\tb\r\nc\n":         "a\tb\nc\n",
		"\x1b]0;owned\x07":    `\x1b]0;owned\x07`,
		"up\rdown\b\x7f":      `up\x0ddown\x08\x7f`,
		"a\u202egpj.exe":      `a\u202egpj.exe`,
		"\u2066x\u2069\u200f": `\u2066x\u2069\u200f`,
		"\u009b2J":            `\u009b2J`,
		"raw \x9b \xff":       `raw \x9b \xff`,
		"日本 é \ufffd":         "日本 é \ufffd",
		"👩\u200d🌾":            "👩\u200d🌾",
	} {
		if got := human.Visible(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := human.Line("a\nb\tc"); got != "a b c" {
		t.Errorf("on one line: %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		shown := human.Visible(string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")))
		for _, c := range shown {
			if human.Hidden(c) && c != '\n' && c != '\t' {
				t.Fatalf("%q holds %q", shown, c)
			}
		}
		if !utf8.ValidString(shown) {
			t.Fatalf("%q is not UTF-8", shown)
		}
	})
}
