package browser_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"transect/runtime/unattended/history"
)

// site is a home folder in which the program runs.
type site struct {
	t    testing.TB
	dir  string
	env  []string
	root string // of the repository
}

func newSite(t testing.TB) *site {
	t.Helper()
	return newSiteIn(t, t.TempDir())
}

func newSiteIn(t testing.TB, dir string) *site {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: dir, root: root}
	crontab := s.write("crontab.sh", "#!/bin/sh\n[ \"$1\" = -l ] && cat \"$HOME/crontab\"\n")
	if err := os.Chmod(crontab, 0o700); err != nil {
		t.Fatal(err)
	}
	s.write("crontab", "")
	s.env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "TZ=Europe/Brussels", "TRANSECT_CRONTAB=" + crontab,
		"TRANSECT_LOCAL_DIR=" + filepath.Join(s.dir, "platform"), "TRANSECT_STATE_DIR=" + filepath.Join(s.dir, "state")}
	return s
}

// write writes a file of the home folder and returns its path.
func (s *site) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// history is the history of the home folder.
func (s *site) history() history.Store { return history.In(filepath.Join(s.dir, "state")) }

func (s *site) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// run runs the program to its end.
func (s *site) run(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("transect %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start starts the program; it is killed at the end of the test.
func (s *site) start(args ...string) *running {
	s.t.Helper()
	r := &running{cmd: s.command(args...)}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	r.cmd.Stderr = &r.errors
	if err := r.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	s.t.Cleanup(r.kill)
	return r
}

// ui starts the page and returns its address with the token.
func (s *site) ui(args ...string) (address string, r *running) {
	s.t.Helper()
	r = s.start(append([]string{"ui"}, args...)...)
	return r.line(s.t), r
}

// running is the program in the background.
type running struct {
	cmd    *exec.Cmd
	out    *bufio.Reader
	errors output
	once   sync.Once
}

// line is the next line of its output.
func (r *running) line(t testing.TB) string {
	t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil {
		t.Fatalf("no line: %v\n%s", err, r.errors.String())
	}
	return strings.TrimSpace(line)
}

// kill ends it as kill -9 does.
func (r *running) kill() {
	r.once.Do(func() {
		_ = r.cmd.Process.Kill() // it may have ended
		_ = r.cmd.Wait()
	})
}

// wait waits for its end.
func (r *running) wait(t testing.TB) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, r.out)
		r.once.Do(func() { ended <- r.cmd.Wait() })
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("%v\n%s", err, r.errors.String())
		}
	case <-time.After(patience):
		t.Fatal("the program did not end")
	}
}

// output collects what a process prints.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
