package jobs

import "testing"

// What others wrote cannot change what a terminal shows besides.
func TestPlain(t *testing.T) {
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
	if got := (Spec{Script: "a.lua", Args: []string{"\x1b[2J", "b\nc"}}).Title(); got != `a.lua \x1b[2J b c` {
		t.Errorf("%q", got)
	}
}
