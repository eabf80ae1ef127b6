package main

import (
	"fmt"
	"io"
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

// The servers of editors and assistants end by a signal too, while their client is there.
func TestSignalsToServers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot send one another signals here")
	}
	header := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	for command, hello := range map[string]string{
		"lsp": header(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`),
		"dap": header(`{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x","linesStartAt1":true}}`),
		"mcp": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
			`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := start(t, t.TempDir(), nil, command)
			if _, err := io.WriteString(p.input, hello); err != nil {
				t.Fatal(err)
			}
			if _, err := p.stdout.Peek(1); err != nil {
				t.Fatal(err)
			}
			if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if _, code := p.end(); code < 0 {
				t.Errorf("had to be killed; stderr\n%s", p.stderr.String())
			}
		})
	}
}
