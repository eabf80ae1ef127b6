package main

import (
	"path/filepath"
	"strings"
	"testing"

	"transect/runtime"
)

// withNotes makes a folder with notes.txt, and runs commands there on a platform of its own.
func withNotes(t *testing.T) (dir string, local []string, run func(args ...string) int) {
	dir = t.TempDir()
	write(t, dir, "notes.txt", "dry")
	local = []string{"TRANSECT_LOCAL=1", "TRANSECT_LOCAL_DIR=" + filepath.Join(dir, "platform"), "TRANSECT_STATE_DIR=" + filepath.Join(dir, "state")}
	return dir, local, func(args ...string) int {
		t.Helper()
		_, code := start(t, dir, local, args...).end()
		return code
	}
}

// On a terminal rm asks, and no is the default.
func TestRmAsks(t *testing.T) {
	t.Parallel()
	dir, local, run := withNotes(t)
	if code := run("put", "notes.txt", "Quarry", "--create"); code != 0 {
		t.Fatalf("put ended with exit code %d", code)
	}
	for _, c := range []struct {
		answer string
		code   int // of show, afterwards
	}{{"\r", 0}, {"no\r", 0}, {"yes\r", 2}} {
		tm := onTerminal(t, dir, local, "rm", "Quarry/notes.txt")
		tm.sees("delete the dataset notes.txt")
		tm.sees("Delete? (yes/no) [no]: ")
		tm.keys(c.answer)
		if c.code == 0 {
			tm.sees("nothing was deleted")
		} else {
			tm.sees("to restore: transect restore ")
		}
		if code := run("show", "Quarry/notes.txt"); code != c.code {
			t.Errorf("after %q show ended with exit code %d", c.answer, code)
		}
	}
}

// On a terminal undo names what it would delete, and asks.
func TestUndoAsks(t *testing.T) {
	t.Parallel()
	dir, local, run := withNotes(t)
	if code := run("put", "notes.txt", "Quarry", "--create", "--run", "r"); code != 0 {
		t.Fatalf("put ended with exit code %d", code)
	}
	for _, c := range []struct {
		answer, says string
		code         int // of show, afterwards
	}{{"\r", "nothing was done", 0}, {"yes\r", "2 deleted", 2}} {
		tm := onTerminal(t, dir, local, "runs", "undo", "r")
		tm.sees(`"notes.txt"`)
		tm.sees(`"Quarry"`)
		tm.sees("Do this? (yes/no) [no]: ")
		tm.keys(c.answer)
		tm.sees(c.says)
		if code := run("show", "Quarry/notes.txt"); code != c.code {
			t.Errorf("after %q show ended with exit code %d", c.answer, code)
		}
	}
}

// On a terminal the command of a run that was stopped by Ctrl-C asks whether to go on with it: then nothing is made
// twice. Without an answer it goes on; anew it makes all.
func TestAgainAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "make.lua", `local sdk, fs = require("sdk"), require("fs")
sdk.projects.create{ name = "Quarry", company = sdk.users.describe().company }
print("made")
while not fs.exists("go") do require("time").sleep(0.05) end
print("whole")`)
	const question = "Go on with it (yes), or start anew (no)? (yes/no) [yes]: "
	command := []string{"run", "--local", "make.lua"}
	stopped := func(answer string) {
		tm := onTerminal(t, dir, nil, command...)
		if answer != "" {
			tm.sees(" of this command, started ")
			tm.sees(question)
			tm.keys(answer)
		}
		tm.sees("made\r\n")
		tm.keys("\x03")
		if code := tm.ends(); code != runtime.ExitInterrupted {
			t.Errorf("stopped after %q: exit code %d", answer, code)
		}
	}
	projects := func() int {
		local := []string{"TRANSECT_LOCAL_DIR=" + filepath.Join(dir, "platform"),
			"TRANSECT_STATE_DIR=" + filepath.Join(dir, "state")}
		out, _ := start(t, dir, local, "ls", "--local", "--json").end()
		return strings.Count(out, `"Quarry"`)
	}
	stopped("")
	stopped("\r")
	stopped("perhaps\ry\r")
	tm := onTerminal(t, dir, nil, command...)
	tm.sees(question)
	tm.keys("\x03")
	if code := tm.ends(); code != runtime.ExitInterrupted {
		t.Errorf("stopped at the question: exit code %d", code)
	}
	if n := projects(); n != 1 {
		t.Errorf("gone on with: %d projects, want 1", n)
	}
	stopped("no\r")
	if n := projects(); n != 2 {
		t.Errorf("begun anew: %d projects, want 2", n)
	}
	write(t, dir, "go", "")
	tm = onTerminal(t, dir, nil, command...)
	tm.sees(question)
	tm.keys("yes\r")
	tm.sees("whole\r\n")
	if code := tm.ends(); code != 0 {
		t.Errorf("the run ended with exit code %d", code)
	}
	tm = onTerminal(t, dir, nil, command...)
	tm.sees("whole\r\n")
	if code := tm.ends(); code != 0 || strings.Contains(tm.output(), question) {
		t.Errorf("after a success: exit code %d, %q", code, tm.output())
	}
}
