package main

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Wherever a script is, a signal ends it: soon, and without any further Lua.
func TestSignals(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot send one another signals here")
	}
	for name, script := range map[string]string{
		"loop":      `while true do end`,
		"pcall":     `while true do pcall(function() while true do end end) end`,
		"try":       `while true do try(function() while true do end end) end`,
		"coroutine": `while true do coroutine.wrap(function() while true do end end)() end`,
		"sleep":     `require("task").sleep(60)`,
		"caught":    `pcall(require("task").sleep, 60)`,
		"tasks":     `require("task").map({ 1, 2, 3 }, function() while true do pcall(require("task").sleep, 60) end end)`,
		"read":      `io.read()`,
		"command":   `os.execute("sleep 60")`,
		"pattern":   `string.find(string.rep("a", 50000), ".-.-.-.-b")`,
		"platform":  `local p = require("projects") while true do p.search{} end`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "x.lua", "print('up') "+script+"\nprint('further Lua')")
			for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
				p := start(t, dir, nil, "run", "--local", "x.lua")
				if got := p.line(); got != "up" {
					t.Fatalf("printed %q", got)
				}
				time.Sleep(20 * time.Millisecond) // into the statement in question
				sent := time.Now()
				if err := p.cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				rest, code := p.end()
				t.Logf("%s: ended after %s", signal, time.Since(sent).Round(time.Millisecond))
				if code != want || rest != "" {
					t.Errorf("%s: exit code %d, printed %q, stderr\n%s", signal, code, rest, p.stderr.String())
				}
			}
		})
	}
}
