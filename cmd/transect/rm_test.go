package main

import (
	"path/filepath"
	"testing"
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
