package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"transect/testdata/flightgen"
	"transect/testdata/smtptest"
)

// fakeMonitor records the notifications of runs.
type fakeMonitor struct {
	*httptest.Server
	mu    sync.Mutex
	paths []string          // requested, in order
	runs  map[string]bool   // values of the parameter rid
	body  map[string]string // the last of each
}

func newFakeMonitor(t *testing.T, status int) *fakeMonitor {
	m := &fakeMonitor{body: map[string]string{}, runs: map[string]bool{}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.paths = append(m.paths, r.URL.Path)
		m.body[r.URL.Path] = string(body)
		m.runs[r.URL.Query().Get("rid")] = true
		w.WriteHeader(status)
	}))
	t.Cleanup(m.Close)
	return m
}

const (
	goodScript = `print("working") print("done with 12 cards")`
	badScript  = `print("card 3 of 12") error("the card is empty")`
)

// The monitor hears of start, success and failure, with exit code, run and last
// lines; one that is out of order, or gone, is no failure of the run.
func TestPing(t *testing.T) {
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	write(t, h.dir, "good.lua", goodScript)
	write(t, h.dir, "bad.lua", badScript)
	write(t, h.dir, "exit.lua", `print("3 failed") os.exit(3)`)
	for script, want := range map[string]struct {
		code       int
		last, body string
	}{"good.lua": {0, "/check", ""}, "bad.lua": {1, "/check/1", "card 3 of 12"}, "exit.lua": {3, "/check/3", "3 failed"}} {
		m := newFakeMonitor(t, http.StatusOK)
		if _, stderr, code := h.run("run", "--ping", m.URL+"/check", script); code != want.code {
			t.Errorf("%s: exit code %d\n%s", script, code, stderr)
		}
		m.mu.Lock()
		if got := strings.Join(m.paths, " "); got != "/check/start "+want.last {
			t.Errorf("%s: the monitor received %s", script, got)
		}
		for run := range m.runs {
			if _, err := uuid.Parse(run); err != nil || len(m.runs) != 1 {
				t.Errorf("%s: the runs are %v", script, m.runs)
			}
		}
		if body := m.body[want.last]; !strings.Contains(body, want.body) || want.code != 0 && !strings.Contains(body, "exit code "+string(rune('0'+want.code))) {
			t.Errorf("%s: the monitor received %q", script, body)
		}
		m.mu.Unlock()
	}
	broken := newFakeMonitor(t, http.StatusInternalServerError)
	gone := newFakeMonitor(t, http.StatusOK)
	gone.Close()
	for _, m := range []*fakeMonitor{broken, gone} {
		if stdout, stderr, code := h.run("run", "--ping", m.URL+"/secret-uuid", "good.lua"); code != 0 || !strings.Contains(stdout, "12 cards") ||
			!strings.Contains(stderr, "the monitor was not notified of the end") || strings.Contains(stderr, "secret-uuid") {
			t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
		}
	}
}

// A failure goes to a command, to an address, or to people by mail; a success
// to nobody; and a failed notification is reported also by a quiet run.
func TestOnFailure(t *testing.T) {
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	write(t, h.dir, "good.lua", goodScript)
	write(t, h.dir, "bad.lua", badScript)
	failing := func(to string, args ...string) string {
		t.Helper()
		_, stderr, code := h.run(append(append([]string{"run", "--quiet", "--on-failure", to}, args...), "bad.lua")...)
		if code != 1 {
			t.Errorf("%s: exit code %d\n%s", to, code, stderr)
		}
		return stderr
	}

	m := newFakeMonitor(t, http.StatusNoContent)
	failing(m.URL + "/hook")
	h.must("run", "--on-failure", m.URL+"/hook", "good.lua")
	m.mu.Lock()
	var post struct {
		Text, Script, Run, Outcome string
		ExitCode                   int    `json:"exit_code"`
		LastLines                  string `json:"last_lines"`
		Error                      struct{ Name, Message string }
	}
	if err := json.Unmarshal([]byte(m.body["/hook"]), &post); err != nil || len(m.paths) != 1 || post.ExitCode != 1 || post.Outcome != "failed" ||
		!strings.Contains(post.LastLines, "card 3 of 12") || post.Error.Message != "the card is empty" || !strings.HasSuffix(post.Script, "bad.lua") || post.Run == "" {
		t.Errorf("posted %v %s: %v", m.paths, m.body, err)
	}
	m.mu.Unlock()

	server := smtptest.New(smtptest.Options{Auth: "PLAIN", User: "robot", Password: "hunter2hunter2"})
	defer server.Close()
	h.settings = []string{"TRANSECT_SMTP=smtp://" + server.Addr, "TRANSECT_MAIL_FROM=robot@example.com"}
	if stderr := failing("mailto:crew@example.com,boss@example.com"); strings.Contains(stderr, "--on-failure") {
		t.Error(stderr)
	}
	mails := server.Messages()
	if len(mails) != 1 || mails[0].From != "robot@example.com" || mails[0].To != "crew@example.com,boss@example.com" ||
		!strings.Contains(mails[0].Text, "card 3 of 12") || !strings.Contains(mails[0].Text, "the card is empty") || !strings.Contains(mails[0].Text, "Subject: ") {
		t.Errorf("mailed %+v", mails)
	}

	h.settings = nil
	for to, want := range map[string]string{"mailto:crew@example.com": "set TRANSECT_SMTP", m.URL + "0/gone": "", "exit 7": "exit status 7"} {
		if stderr := failing(to); !strings.Contains(stderr, "--on-failure failed") || !strings.Contains(stderr, want) {
			t.Errorf("%s:\n%s", to, stderr)
		}
	}
	if runtime.GOOS != "windows" {
		failing(`{ echo "$TRANSECT_EXIT_CODE $TRANSECT_OUTCOME $TRANSECT_ERROR"; cat; } > mailed.txt`)
		text, err := os.ReadFile(filepath.Join(h.dir, "mailed.txt"))
		if err != nil || !strings.HasPrefix(string(text), "1 failed RuntimeError: the card is empty\n") || !strings.Contains(string(text), "card 3 of 12") {
			t.Errorf("the command received %q, %v", text, err)
		}
	}
}

// SIGTERM, as at a shutdown, is neither success nor failure to a monitor, and
// calls nobody.
func TestTerminatedRunIsNoFailure(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot send one another signals here")
	}
	m, dir := newFakeMonitor(t, http.StatusOK), t.TempDir()
	write(t, dir, "x.lua", `print("waiting") require("task").sleep(60)`)
	p := start(t, dir, []string{"TRANSECT_STATE_DIR=" + filepath.Join(dir, "state")}, "run", "--ping", m.URL+"/check", "--on-failure", "touch called", "x.lua")
	p.line()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, code := p.end(); code != 143 {
		t.Errorf("exit code %d", code)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if got := strings.Join(m.paths, " "); got != "/check/start /check/log" || !strings.Contains(m.body["/check/log"], "exit code 143 (terminated)") {
		t.Errorf("the monitor received %s: %s", got, m.body)
	}
	if _, err := os.Stat(filepath.Join(dir, "called")); err == nil {
		t.Error("--on-failure was called")
	}
}

// SIGTERM with --grace: the item in hand is finished, no other begun, the exit
// code is 143. What takes longer than the grace, or gets a second signal, is
// stopped where it is.
func TestGrace(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot send one another signals here")
	}
	// Each item prints its start, waits for a file, and
	// prints its end.
	const items = `local task, script = require("task"), require("script")
for i = 1, 3 do
  script.checkpoint()
  print("item " .. i)
  while not require("fs").exists("go") do task.sleep(0.01) end
  print("finished " .. i)
end`
	const tasks = `local task = require("task")
task.map({ 1, 2, 3 }, function(i)
  print("item " .. i)
  while not require("fs").exists("go") do task.sleep(0.01) end
  print("finished " .. i)
end, { workers = 1 })`
	for name, script := range map[string]string{"loop": items, "tasks": tasks} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := func(grace string) (*process, string) {
				dir := t.TempDir()
				write(t, dir, "x.lua", script)
				p := start(t, dir, []string{"TRANSECT_STATE_DIR=" + filepath.Join(dir, "state")}, "run", "--grace", grace, "--report", "r.json", "x.lua")
				if got := p.line(); got != "item 1" {
					t.Fatalf("printed %q", got)
				}
				if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				p.waitForStderr("finishing the items in hand")
				return p, dir
			}
			ended := func(p *process, dir, want string) {
				t.Helper()
				rest, code := p.end()
				report, _ := os.ReadFile(filepath.Join(dir, "r.json"))
				if code != 143 || rest != want || !strings.Contains(string(report), `"outcome": "terminated"`) {
					t.Errorf("exit code %d, printed %q, stderr\n%s\n%s", code, rest, p.stderr.String(), report)
				}
			}
			p, dir := begin("1h")
			write(t, dir, "go", "")
			ended(p, dir, "finished 1\n")

			p, dir = begin("1h") // further signals; two at one moment count as one
			over := make(chan struct{})
			go func() {
				for {
					select {
					case <-over:
						return
					case <-time.After(50 * time.Millisecond):
						_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be over
					}
				}
			}()
			ended(p, dir, "")
			close(over)

			p, dir = begin("50ms") // over before the item is finished
			ended(p, dir, "")
		})
	}
}

// What --learn writes from a run permits exactly that run: the same again
// passes, one more write does not.
func TestLearn(t *testing.T) {
	t.Parallel()
	h := newHome(t, 3, flightgen.Options{})
	write(t, h.dir, "x.lua", `local fs, sdk = require("fs"), require("sdk")
fs.write("out.txt", #fs.list("flight") .. " photos")
sdk.projects.create("North", sdk.users.describe().company)
print(os.getenv("HOME"))
if arg[1] == "more" then fs.write("more.txt", "x") end
if arg[1] == "delete" then sdk.projects.delete(sdk.projects.search{}[1]) end
if arg[1] == "net" then require("http").get("http://127.0.0.1:1/") end`)
	_, stderr, code := h.run("run", "--local", "--learn", "x.lua")
	if code != 0 || !strings.Contains(stderr, "x.allow.json") {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	text, err := os.ReadFile(filepath.Join(h.dir, "x.allow.json"))
	if err != nil || !json.Valid(text) {
		t.Fatalf("%s, %v", text, err)
	}
	h.must("run", "--local", "x.lua")
	for argument, want := range map[string]string{"more": "PermissionError: fs.write: the script may not write", "delete": "may not", "net": "may not connect to 127.0.0.1:1"} {
		if _, stderr, code := h.run("run", "--local", "x.lua", argument); code != 1 || !strings.Contains(stderr, want) || !strings.Contains(stderr, "x.allow.json") {
			t.Errorf("%s: exit code %d\n%s", argument, code, stderr)
		}
	}
	if after, _ := os.ReadFile(filepath.Join(h.dir, "x.allow.json")); string(after) != string(text) {
		t.Error("a run without --learn changed the permissions")
	}
	if _, err := os.Stat(filepath.Join(h.dir, "more.txt")); err == nil {
		t.Error("it was written all the same")
	}
	// Learning once more adds, and forgets nothing.
	h.must("run", "--local", "--learn", "x.lua", "more")
	h.must("run", "--local", "x.lua", "more")
	h.must("run", "--local", "x.lua")
}
