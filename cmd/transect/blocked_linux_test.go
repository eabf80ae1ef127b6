package main

import (
	"os"
	"path/filepath"
	"strings"
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

// A plan takes nothing out of a pipe.
func TestPlanOfAPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("a line\n"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "script.lua", `print(io.open("pipe"):read())`)
	p := start(t, dir, nil, "run", "--dry-run", "script.lua")
	if _, code := p.end(); code != 1 || !strings.Contains(p.stderr.String(), "is a device or a pipe") {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
	p = start(t, dir, nil, "run", "script.lua")
	if line, code := p.end(); code != 0 || line != "a line\n" {
		t.Errorf("exit code %d, %q: %s", code, line, p.stderr.String())
	}
}
