package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminal is the program on a terminal of its own.
type terminal struct {
	t   *testing.T
	cmd *exec.Cmd
	pty *os.File

	mu   sync.Mutex
	seen string // of the output that was not waited for yet
	last string // of what was waited for, the end
	all  string
	more chan struct{}
	read chan struct{} // closed when all output was read
}

// onTerminal starts the program on a terminal of 80 columns, in a folder that
// is its home too.
func onTerminal(t *testing.T, dir string, env []string, args ...string) *terminal {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no pseudo terminals here")
	}
	// Without noflsh Ctrl-C may discard what the program says of it before it is read here. It is set
	// before the program sets modes of its own.
	start := append([]string{"-c", `stty noflsh && exec transect "$@"`, "transect"}, args...)
	tm := &terminal{t: t, cmd: exec.Command("sh", start...), more: make(chan struct{}, 1), read: make(chan struct{})}
	tm.cmd.Dir = dir
	tm.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm", "NO_COLOR=1",
		"TRANSECT_LOCAL_DIR=" + filepath.Join(dir, "platform"), "TRANSECT_STATE_DIR=" + filepath.Join(dir, "state")}, env...)
	var err error
	if tm.pty, err = pty.StartWithSize(tm.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(4*testTimeout, func() { _ = tm.cmd.Process.Kill() })
	go func() {
		defer close(tm.read)
		b := make([]byte, 4096)
		for {
			n, err := tm.pty.Read(b)
			tm.mu.Lock()
			tm.seen += string(b[:n])
			tm.all += string(b[:n])
			tm.mu.Unlock()
			select {
			case tm.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		guard.Stop()
		if t.Failed() {
			_ = tm.cmd.Process.Signal(syscall.SIGQUIT) // says where it is
			time.Sleep(time.Second)
		}
		_ = tm.cmd.Process.Kill()
		_ = tm.cmd.Wait()
		_ = tm.pty.Close()
		<-tm.read
		if t.Failed() {
			t.Logf("on the terminal:\n%q", tm.output())
		}
	})
	return tm
}

// keys types.
func (tm *terminal) keys(text string) {
	tm.t.Helper()
	if _, err := tm.pty.WriteString(text); err != nil {
		tm.t.Fatal(err)
	}
}

// sees waits until a text comes, and forgets what came up to its end.
func (tm *terminal) sees(text string) {
	tm.t.Helper()
	tm.waits(text, func(_, seen string) int { return strings.Index(seen, text) })
}

// prompts waits for a prompt: at the beginning of a line, for the editor draws
// it again while a long line is typed. Control keys wait for it; before, they
// would be meant for what runs.
func (tm *terminal) prompts(prompt string) {
	tm.t.Helper()
	tm.waits(prompt, func(last, seen string) int {
		if at := strings.Index(last+seen, "\n"+prompt); at >= 0 {
			return at + 1 - len(last)
		}
		return -1
	})
}

// waits waits until a text is found in the output.
func (tm *terminal) waits(text string, find func(last, seen string) int) {
	tm.t.Helper()
	late := time.After(testTimeout)
	for {
		tm.mu.Lock()
		at := find(tm.last, tm.seen)
		if at >= 0 {
			end := at + len(text)
			tm.last, tm.seen = tm.seen[end-1:end], tm.seen[end:]
		}
		tm.mu.Unlock()
		if at >= 0 {
			return
		}
		select {
		case <-tm.more:
		case <-late:
			tm.t.Fatalf("never saw %q", text)
		}
	}
}

// says types a line and waits for an answer, then for the prompt. The line is
// echoed by the editor: what is waited for must not be part of it.
func (tm *terminal) says(line, answer string) {
	tm.t.Helper()
	tm.keys(line + "\r")
	if answer != "" {
		tm.sees(answer)
	}
	tm.prompts("local> ")
}

// output is all that came so far.
func (tm *terminal) output() string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.all
}

// ends waits for the end and returns the exit code.
func (tm *terminal) ends() int {
	tm.t.Helper()
	err := tm.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		tm.t.Fatal(err)
	}
	return tm.cmd.ProcessState.ExitCode()
}

// prompted starts the prompt on the local platform and waits until it is there.
func prompted(t *testing.T, dir string, args ...string) *terminal {
	t.Helper()
	tm := onTerminal(t, dir, nil, append([]string{"repl", "--local"}, args...)...)
	tm.sees("Ctrl-D leaves")
	tm.prompts("local> ")
	return tm
}

// leaves ends the session with Ctrl-D, which is a success.
func (tm *terminal) leaves() {
	tm.t.Helper()
	tm.keys(ctrlD)
	if code := tm.ends(); code != 0 {
		tm.t.Errorf("exit code %d", code)
	}
}

// A single file that takes long shows how far it has come, both ways.
func TestTransferOnTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "large.bin", strings.Repeat("x", 5_000_000))
	write(t, dir, "send.lua", `local sdk = require("sdk")
local project = sdk.projects.create("Quarry", sdk.users.describe().company)
local d = sdk.datasets.create_file_dataset{ name = "large", project = project }
sdk.datasets.upload_file(d, { component = "file", file_path = "large.bin" })
print("sent")
sdk.datasets.download_component(d, { component = "file", target_path = "out" })
print("fetched")
`)
	tm := onTerminal(t, dir, nil, "run", "--local", "--bwlimit", "1M", "send.lua")
	tm.sees("large.bin: ")
	tm.sees(" of 5.0 MB (")
	tm.sees("sent\r\n")
	tm.sees("datasets.download_component: ")
	tm.sees("fetched\r\n")
}
