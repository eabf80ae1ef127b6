package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/runtime/unattended/history"
)

// past adds a run that ended to the history, some time ago.
func (s *site) past(ago, took time.Duration, code int, change func(*history.Summary)) *history.Summary {
	s.t.Helper()
	at := time.Now().Add(-ago)
	run := &history.Summary{ID: history.NewID(at), State: history.Running, Script: "/home/me/sync.lua", Arguments: []string{"flights/"},
		Command: "transect run sync.lua flights/", Folder: "/home/me", Host: "field", PID: 4711, Version: "1.0", Started: at}
	if change != nil {
		change(run)
	}
	e, err := s.history().Begin(run)
	if err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(e.Log, "%s transect: run %s of %s starts\n", at.UTC().Format("2006-01-02T15:04:05.000Z"), run.ID, run.Script)
	run.State = history.Ended
	if run.End == nil {
		run.End = &history.End{ItemsDone: 120}
	}
	run.End.At, run.End.Seconds, run.End.ExitCode, run.End.Outcome = at.Add(took), took.Seconds(), code, history.Outcome(code)
	if err := e.End(run); err != nil {
		s.t.Fatal(err)
	}
	return run
}

// died adds a run whose process was killed.
func (s *site) died(ago time.Duration) *history.Summary {
	s.t.Helper()
	at := time.Now().Add(-ago)
	run := &history.Summary{ID: history.NewID(at), State: history.Running, Script: "/home/me/import.lua", Started: at, PID: 4712}
	if err := os.WriteFile(filepath.Join(s.history().Dir, run.ID+".json"), run.JSON(), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return run
}

const hostileName = `<img src=x onerror=alert(1)><script>alert(2)"'&amp;.lua`

// weeks fills the history as some weeks of work do; the script that fails has a
// name of its own.
func (s *site) weeks(failing string) {
	for night := 40; night >= 2; night-- {
		code := 0
		if night%11 == 3 {
			code = 5
		}
		s.past(time.Duration(night)*24*time.Hour, time.Duration(200+37*(night%7))*time.Second, code, func(r *history.Summary) { r.Job = "nightly" })
	}
	s.past(3*time.Hour, 4*time.Minute, 3, func(r *history.Summary) {
		r.Script, r.Command = "@put", "transect put flight 'North quarry/May survey'"
		r.End = &history.End{ItemsDone: 118, ItemsFailed: 2, Sent: 1 << 30, Files: map[string]int64{"uploaded": 117, "already_there": 1, "damaged": 2}}
	})
	s.past(2*time.Hour, 1200*time.Millisecond, 1, func(r *history.Summary) {
		r.Script = "/home/me/" + failing
		r.Arguments = []string{"<b>bold</b>"}
		r.End = &history.End{Error: &history.Failure{Name: "ValueError", Message: "the card <i>is</i> empty", Hint: "put <u>files</u> on it", File: "sync.lua", Line: 3}}
	})
	s.past(30*time.Minute, 20*time.Second, 0, func(r *history.Summary) { r.Script = "/home/me/report.lua" })
	s.died(26 * time.Hour)
	s.write("crontab", "30 2 * * * cd /home/me && transect run sync.lua # transect job nightly\n0 4 * * 1 cd /home/me && transect run tidy.lua # transect job weekly\n")
}

func TestRuns(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	address, _ := s.ui("--local")
	p := open(t, address)
	p.visit("/runs")
	p.reads("main", "There are no runs yet")
	p.picture("runs-empty")
	s.weeks(hostileName)
	p.reads("#runs-last", "overdue") // it appears by itself
	p.visit("/runs")

	rows := eval[[]string](p, `[...document.querySelectorAll("#runs-last tbody tr")].map(r => r.innerText)`)
	if len(rows) != 6 || !strings.Contains(rows[len(rows)-1], "weekly") || !strings.Contains(rows[4], "report.lua") {
		t.Errorf("the last outcomes are not those that failed first: %q", rows)
	}
	for i, word := range []string{"partial", "failed", "died", "overdue"} {
		if !strings.Contains(strings.Join(rows[:4], " "), word) {
			t.Errorf("%d: nothing is %s among %q", i, word, rows)
		}
	}
	p.fits("/runs at 1280")
	p.picture("runs")
	p.width(narrow)
	p.fits("/runs at 400")
	p.picture("runs-narrow")
	p.media("screen", "dark")
	p.picture("runs-dark-narrow")
	p.width(wide)
	p.picture("runs-dark")
	p.media("print", "light")
	p.picture("runs-print")
	p.media("screen", "light")

	// Filters and pages.
	if n := eval[int](p, `document.querySelectorAll("#runs-history tbody tr").length`); n != 43 {
		t.Errorf("%d runs are listed", n)
	}
	p.click(`[name=failed]`)
	p.click(".filters button")
	p.reads("#runs-history", "1 to 7 of 7 runs")
	p.visit("/runs?job=nightly&since=5d")
	p.reads("#runs-history", "1 to 3 of 3 runs")
	p.visit("/runs?since=someday")
	p.reads(".problem", "is not a time")
	p.visit("/runs?job=nobody")
	p.reads("#runs-history", "No run matches")

	// By keyboard to the run whose name is markup.
	p.visit("/runs?failed=1")
	p.enter(`#runs-history tbody tr:nth-child(1) a`)
	p.reads("h1", hostileName)
	p.reads("#run-state", "the card <i>is</i> empty")
	p.reads("#run-about", "<b>bold</b>")
	if n := eval[int](p, `document.querySelectorAll("main img, main script, main i, main u").length`); n != 0 {
		t.Errorf("%d elements were made by names", n)
	}
	p.picture("run-failed")
	p.width(narrow)
	p.fits("a run at 400")
	p.picture("run-failed-narrow")
	p.expect("404")
	p.visit("/runs/nothing")
	p.reads("main", "There is no run nothing")
}

// A run is followed while it goes on: its progress, its log, its end.
func TestLiveRun(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	address, _ := s.ui("--local")
	p := open(t, address)
	p.visit("/runs")
	ingest := s.start("run", "--local", "--bwlimit", "12k", "--connections", "1", filepath.Join(s.root, "scripts/survey.lua"), "--out", "out", filepath.Join(s.root, "testdata/flight"))
	p.reads("#runs-going", "8 files")
	p.until(`document.querySelector("#runs-going progress").value > 20`)
	p.reads("#runs-going", "left")
	p.picture("runs-going")
	p.click("#runs-going a")
	p.reads("#run-state", "running")
	p.reads("#log", "starts")
	p.until(`document.querySelector("#run-state progress")`)
	p.picture("run-going")
	p.reads("#log", "writing the deliverables") // without a reload
	p.reads("#run-state", "exit code 0")
	p.reads("#run-facts", "uploaded")
	p.reads("#log", "exit code 0")
	ingest.wait(t)
	p.until(`document.querySelector("svg .sent")`)
	p.picture("run-live-end")
	p.visit(eval[string](p, "location.pathname"))
	p.reads("#run-about", "datasets.create_datasets")
	p.visit("/datasets?name=FLIGHT_0001")
	p.click(`main td a[href^="/datasets/"]`)
	p.click(`main a[href^="/runs/"]`) // where it came from
	p.reads("#run-about", "survey.lua")
	p.picture("run")
	p.width(narrow)
	p.fits("a run at 400")
	p.media("screen", "dark")
	p.picture("run-dark-narrow")

	// Nothing runs it again where actions are not allowed.
	if n := eval[int](p, `document.querySelectorAll("form[action$=again]").length`); n != 0 {
		t.Error("a page without --allow-actions has the button")
	}

	// A run that is killed has died, and its last second is kept.
	killed := s.start("run", "--local", s.write("long.lua", `for i = 1, 500 do print("line " .. i) end
require("progress").start{ label = "counting", files = 10 }:add{ files = 4 }
print("ready")
require("task").sleep(60)`))
	for killed.line(t) != "ready" {
	}
	p.visit("/runs")
	p.reads("#runs-going", "counting")
	p.click("#runs-going a")
	p.reads("#log", "line 500")
	killed.kill()
	p.reads("#run-state", "died")
	p.reads("#run-state", "4 of 10 files")
	p.scripts(false)
	p.visit(eval[string](p, "location.pathname"))
	p.reads("#log", "line 500")
	if text := p.text("#log"); strings.Contains(text, "line 1\n") {
		t.Error("the page begins with the whole log")
	}
	p.click(`a[href$="/log"]`)
	p.reads("body", "line 1\n")
}

func TestRunAgain(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	s.write("hello.lua", `print("hello " .. arg[1])`)
	s.run("run", "hello.lua", "it's me")
	s.run("run", "hello.lua", "password=hidden")
	address, _ := s.ui("--local", "--allow-actions")
	p := open(t, address)
	p.visit("/runs")
	p.click("#runs-history tr:nth-child(2) a")
	p.reads("#again", `transect run hello.lua 'it'"'"'s me'`)
	p.click(".confirm summary")
	p.picture("run-again")
	p.click(".confirm button")
	p.reads(".notice", "started again")
	p.click(".notice a")
	p.until(`document.querySelectorAll("#runs-history tbody tr").length === 3`)
	p.click("#runs-history tr:nth-child(1) a")
	p.reads("#log", "hello it's me")

	// What names a secret can only be copied, and a form from elsewhere does nothing.
	p.visit("/runs")
	p.click("#runs-history tr:nth-child(2) a")
	p.reads("#again", "password=[redacted]")
	if n := eval[int](p, `document.querySelectorAll("form[action$=again]").length`); n != 0 {
		t.Error("a command without its secret can be started")
	}
	p.expect("403")
	for _, form := range []string{"", "guess"} {
		if status := eval[int](p, `fetch(location.pathname + "/again", {method: "POST", body: new URLSearchParams({form: "`+form+`"})}).then(r => r.status)`); status != 403 {
			t.Errorf("the form %q is answered by %d", form, status)
		}
	}
}
