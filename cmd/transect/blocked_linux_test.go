package main

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A signal ends commands that wait for a file to open.
func TestSignalsWhileFilesOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.lua"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"check", "pipe.lua"}, {"fmt", "pipe.lua"}, {"run", "pipe.lua"}, {"test", "pipe.lua"}} {
		for signal, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
			p := start(t, dir, nil, command...)
			time.Sleep(300 * time.Millisecond) // before that the signal ends it as well
			if err := p.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if _, code := p.end(); code != want && code != -1 {
				t.Errorf("%v after %s: exit code %d, want %d: %s", command, signal, code, want, p.stderr.String())
			}
		}
	}
}
