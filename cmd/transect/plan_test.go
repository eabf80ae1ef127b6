package main

import (
	"path/filepath"
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

// On a terminal the plan is shown and agreed to: no is the default, and Ctrl-C is no;
// nothing is sent then. The command put asks as well.
func TestPlanAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "add.lua", `local sdk = require("sdk")
sdk.projects.create{ name = arg[1], company = sdk.users.describe().company }`)
	write(t, dir, "notes.txt", "dry")
	local := []string{"TRANSECT_LOCAL=1", "TRANSECT_LOCAL_DIR=" + filepath.Join(dir, "platform"),
		"TRANSECT_STATE_DIR=" + filepath.Join(dir, "state")}
	for _, c := range []struct {
		words, plan, answer string
		code                int
		there               bool
	}{
		{"run --plan add.lua North", `+ project "North"`, "\r", 8, false},
		{"run --plan add.lua North", `+ project "North"`, "n\r", 8, false},
		{"run --plan add.lua North", `+ project "North"`, "yess\r", 8, false},
		{"run --plan add.lua North", `+ project "North"`, "\x03", 130, false},
		{"put --plan notes.txt North --create", `+ project "North"`, "no\r", 8, false},
		{"run --plan add.lua North", `+ project "North"`, "y\r", 0, true},
		{"put --plan notes.txt North", `1 file of 3 B`, "yes\r", 0, true},
	} {
		tm := onTerminal(t, dir, local, strings.Fields(c.words)...)
		tm.sees(c.plan)
		tm.sees("Carry this out? (yes/no) [no]: ")
		tm.keys(c.answer)
		if c.there {
			tm.sees("applied: ")
		}
		if code := tm.ends(); code != c.code {
			t.Errorf("%s, answered by %q: exit code %d, want %d", c.words, c.answer, code, c.code)
		}
		if _, code := start(t, dir, local, "show", "North").end(); (code == 0) != c.there {
			t.Errorf("%s, answered by %q: show ends with exit code %d", c.words, c.answer, code)
		}
	}
	if _, code := start(t, dir, local, "show", "North/notes.txt").end(); code != 0 {
		t.Errorf("the file was not sent: exit code %d", code)
	}
}
