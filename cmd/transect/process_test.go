package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// testTimeout is far more than anything here takes. It only keeps a test that
// would never end from doing so.
const testTimeout = 30 * time.Second

// process is this program under way.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	input  io.WriteCloser // its standard input
	stdout *bufio.Reader
	stderr stderrBuffer
}

// stderrBuffer collects standard error of a running process.
type stderrBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *stderrBuffer) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *stderrBuffer) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// waitForStderr waits for a text on standard error.
func (p *process) waitForStderr(what string) {
	p.t.Helper()
	for began := time.Now(); !strings.Contains(p.stderr.String(), what); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > testTimeout {
			p.t.Fatalf("did not print %q:\n%s", what, p.stderr.String())
		}
	}
}

// start starts the program in a folder that is its home too.
func start(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command("transect", args...)}
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), append([]string{"HOME=" + dir, "XDG_DATA_HOME=", "XDG_CONFIG_HOME="}, env...)...)
	p.cmd.Stderr = &p.stderr
	stdin, err := p.cmd.StdinPipe() // stays open: reading from it waits
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.input = stdin
	p.stdout = bufio.NewReader(stdout)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(testTimeout, func() { _ = p.cmd.Process.Kill() })
	t.Cleanup(func() {
		guard.Stop()
		_ = stdin.Close()
		_ = p.cmd.Process.Kill()
	})
	return p
}

// line is the next line of standard output.
func (p *process) line() string {
	p.t.Helper()
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		p.t.Fatalf("no line: %v\n%s", err, p.stderr.String())
	}
	return strings.TrimSpace(line)
}

// end waits for the end: what was still printed, and the exit code.
func (p *process) end() (rest string, code int) {
	p.t.Helper()
	text, err := io.ReadAll(p.stdout)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait() // the exit code says it
	return string(text), p.cmd.ProcessState.ExitCode()
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
