package main

import (
	"strings"
	"testing"

	"transect/runtime"
)

// What carries a plan out is the command that made it, without the flags of planning;
// those of the script stay.
func TestCommandOfAPlan(t *testing.T) {
	for _, test := range []struct{ command, words, want string }{
		{"plan", "plan --local s.lua a b -o p.plan", "run --local s.lua a b"},
		{"plan", "plan -o p.plan --json --local s.lua --plan --json x", "run --local s.lua --plan --json x"},
		{"plan", "plan --output=p.plan s.lua --output=other", "run s.lua --output=other"},
		{"plan", "-q plan --output=p.plan @survey flight --json", "run -q @survey flight"},
		{"put", "put --plan --local card North", "put --local card North"},
	} {
		a := newApp(&runtime.Process{Args: strings.Fields(test.words)})
		if got := strings.Join(a.wordsOf(test.command), " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.words, got, test.want)
		}
	}
}
