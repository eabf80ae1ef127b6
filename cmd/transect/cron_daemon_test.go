package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"transect/testdata/flightgen"
)

// TestCronDaemon has the cron of this machine run jobs: one holds its lock and
// writes log, report and metrics; one that comes at the same time is skipped;
// one fails, and the monitor and a command on failure get its last lines. The
// crontab of the user is put back.
func TestCronDaemon(t *testing.T) {
	switch _, err := exec.LookPath("cron"); {
	case testing.Short():
		t.Skip("left out by -short: it waits for a full minute")
	case err != nil:
		t.Skip("there is no cron here")
	case os.Getuid() != 0:
		t.Skip("only root can start cron")
	}
	t.Parallel()
	forgetTestJobs(t) // of a test that was killed
	t.Cleanup(func() { forgetTestJobs(t) })

	var mu sync.Mutex
	notified := map[string]string{}
	monitor := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		notified[r.URL.Path] = string(body)
	}))
	defer monitor.Close()

	h := newHome(t, 0, flightgen.Options{})
	h.settings = []string{"TRANSECT_STATE_DIR=" + filepath.Join(h.dir, "state")}
	write(t, h.dir, "slow.lua", `print("working", arg[1]) require("task").sleep(8)`)
	write(t, h.dir, "bad.lua", `print("card 3 of 12") error("the card is empty")`)
	for _, name := range []string{"first", "second"} { // whichever is first
		h.must("cron", "add", testJob+name, "* * * * *", "--lock=survey", "--report", name+".json", "--metrics", name+".prom", "--ping", monitor.URL+"/"+name, "slow.lua", "100%")
	}
	h.must("cron", "add", testJob+"failing", "* * * * *", "--ping", monitor.URL+"/failing", "--on-failure", "cat > mailed.txt", "bad.lua")

	daemon := exec.Command("cron", "-f") // one that runs already does as well
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()

	outcomes := map[string]int{}
	for deadline := time.Now().Add(110 * time.Second); len(outcomes) < 3 && time.Now().Before(deadline); time.Sleep(time.Second) {
		outcomes = map[string]int{}
		for line := range strings.Lines(h.must("runs", "--json")) {
			var run struct {
				End *struct{ Outcome string }
			}
			if json.Unmarshal([]byte(line), &run) == nil && run.End != nil {
				outcomes[run.End.Outcome]++
			}
		}
	}
	if outcomes["success"] == 0 || outcomes["locked"] == 0 || outcomes["failed"] == 0 {
		t.Fatalf("the runs ended so: %v\n%s", outcomes, h.must("runs"))
	}
	mu.Lock()
	defer mu.Unlock()
	winner := "first"
	if _, ok := notified["/second"]; ok {
		winner = "second"
	}
	for file, want := range map[string]string{winner + ".json": `"exit_code": 0`, winner + ".prom": "transect_run_success{", "mailed.txt": "the card is empty",
		"state/logs/" + testJob + winner + ".log": "working\t100%"} {
		if text, err := os.ReadFile(filepath.Join(h.dir, file)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %q, error %v; want %q in it", file, text, err, want)
		}
	}
	if _, ok := notified["/failing/start"]; !ok || !strings.Contains(notified["/failing/1"], "exit code 1") || !strings.Contains(notified["/failing/1"], "card 3 of 12") {
		t.Errorf("the monitor received %q", notified)
	}
	if _, ok := notified["/"+winner+"/start"]; !ok {
		t.Errorf("the monitor received %q", notified)
	}
}

// testJob begins the names of the jobs of this test, so that they are known
// again when it was killed.
const testJob = "transect-test-of-the-daemon-"

// forgetTestJobs takes this test's jobs out of the crontab and leaves all else.
func forgetTestJobs(t *testing.T) {
	t.Helper()
	table, err := exec.Command("crontab", "-l").Output()
	if err != nil {
		return // there is none
	}
	kept := ""
	for line := range strings.Lines(string(table)) {
		if !strings.Contains(line, testJob) {
			kept += line
		}
	}
	if kept == string(table) {
		return
	}
	write := exec.Command("crontab", "-")
	if strings.TrimSpace(kept) == "" {
		write = exec.Command("crontab", "-r")
	}
	write.Stdin = strings.NewReader(kept)
	if out, err := write.CombinedOutput(); err != nil {
		t.Errorf("the jobs of the test are still in the crontab: %v: %s", err, out)
	}
}
