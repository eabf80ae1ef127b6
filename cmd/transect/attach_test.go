//go:build unix

package main

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"transect/runtime/unattended"
)

const attachScript = `local fs, ingest, sdk, task = require("fs"), require("ingest"), require("sdk"), require("task")
local password, note, mark = "opensesame", "it is " .. os.getenv("TRANSECT_SMTP_PASSWORD"), { token = "t0ps3cret", 1 }
local project = sdk.projects.find_or_create{ name = "North quarry" }
local mission = sdk.missions.find_or_create{ project = project, name = "May survey" }
local function waits(n)
  local twice = n * 2
  pcall(function()
    local inner = "within"
    task.sleep(60)
  end)
end
task.spawn(waits, 21)
task.spawn(function()
  local count = 0
  while not fs.exists("go.txt") do
    count = count + 1
    if count % 1000 == 0 then task.sleep(0) end
  end
  print("counted")
  os.exit(0)
end)
print("ready")
task.scope(function()
  task.spawn(function() local scoped = true task.sleep(60) end)
  ingest.run{ source = "flight", include = "*.bin", project = project, mission = mission }
end)
`

// A running script shows its tasks, their variables without secrets and its transfers to
// another process of the same user, and goes on as if nobody had looked.
func TestAttach(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "card [1]") // characters of a pattern
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"TRANSECT_LOCAL=1", "TRANSECT_SMTP_PASSWORD=swordfish77"}
	write(t, dir, "look.lua", attachScript)
	if err := os.Mkdir(filepath.Join(dir, "flight"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "flight"), "big.bin", strings.Repeat("0123456789", 300_000))
	run := start(t, dir, env, "run", "--bwlimit", "50k", "look.lua")
	if line := run.line(); line != "ready" {
		t.Fatal(line)
	}
	var seen string
	for began := time.Now(); !strings.Contains(seen, "in transfer: "); time.Sleep(50 * time.Millisecond) {
		if seen, _ = start(t, dir, env, "runs", "attach", "look").end(); time.Since(began) > testTimeout {
			t.Fatal(seen)
		}
	}
	for _, want := range []string{"look.lua", "North quarry (", "password = …", "mark = { 1, token = … }", "note = \"it is [redacted]\"",
		"look.lua:9 in the function of line 7", `inner = "within"`, "twice = 42", "waits for task.sleep", "scoped = true",
		"waits for ingest\n", "flight/big.bin", "count = "} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	for _, secret := range []string{"opensesame", "swordfish77", "t0ps3cret"} {
		if strings.Contains(seen, secret) {
			t.Errorf("%s is shown", secret)
		}
	}
	if t.Failed() {
		t.Log(seen)
	}
	var view unattended.View
	text, _ := start(t, dir, env, "runs", "attach", "--json", strconv.Itoa(run.cmd.Process.Pid)).end()
	if err := json.Unmarshal([]byte(text), &view); err != nil || len(view.Tasks) != 4 || view.PID != run.cmd.Process.Pid {
		t.Errorf("%v, %s", err, text)
	}
	conforms(t, "runs-attach", text)
	sockets := func() []string {
		runs := filepath.Join(dir, ".local/state/transect/runs")
		found, _ := fs.Glob(os.DirFS(runs), "*.sock") // the pattern is valid
		for i := range found {
			found[i] = filepath.Join(runs, found[i])
		}
		return found
	}
	if info, err := os.Stat(sockets()[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	prompt := start(t, dir, env, "repl")
	if _, err := io.WriteString(prompt.input, ":attach "+view.ID+"\n:attach other\n"); err != nil {
		t.Fatal(err)
	}
	if out, code := prompt.end(); code != 2 || !strings.Contains(out, "twice = 42") ||
		!strings.Contains(prompt.stderr.String(), "other does not run") {
		t.Errorf("the prompt shows %s, %d, %s", out, code, prompt.stderr.String())
	}
	write(t, dir, "go.txt", "")
	if out, code := run.end(); out != "counted\n" || code != 0 {
		t.Errorf("the script printed %q, exit code %d: %s", out, code, run.stderr.String())
	}
	if left := sockets(); len(left) > 0 {
		t.Errorf("%s is left", left)
	}
}

// The socket of a run that was killed is removed; one that does not answer is waited for
// a moment only.
func TestAttachToWhatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "endless.lua", "print('ready') while true do end")
	attach := func() (string, string) {
		p := start(t, dir, nil, "runs", "attach")
		out, _ := p.end()
		return out, p.stderr.String()
	}
	if _, said := attach(); !strings.Contains(said, "there is no running script on this machine") {
		t.Error(said)
	}
	run := start(t, dir, nil, "run", "endless.lua")
	run.line()
	for out := ""; !strings.Contains(out, "endless.lua:1"); {
		out, _ = attach()
	}
	if err := run.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if out, said := attach(); out != "" || !strings.Contains(said, "does not answer") {
		t.Errorf("of a stopped process: %s %s", out, said)
	}
	_ = run.cmd.Process.Kill()
	_, _ = run.end()
	socket, _ := filepath.Glob(filepath.Join(dir, ".local/state/transect/runs/*.sock"))
	if len(socket) != 1 {
		t.Fatal(socket)
	}
	attach()
	if _, err := os.Lstat(socket[0]); err != nil {
		t.Error("a socket that may be in the making is removed")
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(socket[0], old, old); err != nil {
		t.Fatal(err)
	}
	attach()
	if _, err := os.Lstat(socket[0]); err == nil {
		t.Error("the socket of a killed run is left")
	}
}
