package jobs

import "testing"

// What others wrote cannot change what a terminal shows besides.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"métier\tä":                       "métier ä",
		"a\x1b]52;c;cm0=\x07b\nc\x00\xff": "a ]52;c;cm0= b c \uFFFD",
		"\u202egnp.exe":                   " gnp.exe",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"10 %\r20 %\ttab":                     "10 %\r20 %\ttab",
		"\x1b[1;31mred\x1b[0m\x1b[2J\x1b[Aup": "\x1b[1;31mred\x1b[0m[2J[Aup",
		"\x1b]0;title\x07\u009b2Jx\x00\x7fm":  "]0;title2Jxm",
		"\u2066x\u2069 \xff":                  "x \uFFFD",
	} {
		if got := PlainLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := (Spec{Script: "a.lua", Args: []string{"\x1b[2J", "b\nc"}}).Title(); got != "a.lua  [2J b c" {
		t.Errorf("%q", got)
	}
}
