package browser_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// seasonScripts fan out flights, some of which fail.
func (s *site) seasonScripts(flights int) {
	s.write("flight.lua", `local n = tonumber(arg[1])
print("working on field " .. n)
if n % 4 == 0 then error("field " .. n .. ": the platform refused <b>IMG_0012.JPG</b>: its coordinate reference system EPSG:99999 is unknown", 0) end
return { images = 30 + n, flight = "field-" .. n }`)
	s.write("season.lua", fmt.Sprintf(`local jobs = require("jobs")
local list = {}
for i = 1, %d do list[i] = tostring(i) end
local bad = 0
for _, d in ipairs(jobs.map(list, { script = "flight.lua", args = function(f) return { f } end, concurrency = 4 })) do
  if d.state ~= "done" then bad = bad + 1 end
end
require("script").fail_items(bad, #list)`, flights))
	s.write("long.lua", `for i = 1, 4000 do print("line " .. i .. " <i>of</i> the survey") end
while not io.open("go.txt") do require("task").sleep(0.05) end
print("the last line")
return { ready = true }`)
	s.write("wait.lua", `print("begins") require("task").sleep(600)`)
	s.write("ask.lua", `os.exit(7)`)
}

// submit submits a job and returns its id.
func (s *site) submit(args ...string) string {
	s.t.Helper()
	out, err := s.command(append([]string{"submit"}, args...)...).Output()
	if err != nil {
		s.t.Fatal(args, err)
	}
	return strings.TrimSpace(string(out))
}

// The page of jobs, as an operator uses it: a night at a glance, a job that is
// followed live, and what may be done.
func TestJobs(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	s.seasonScripts(12)
	address, _ := s.ui("--jobs", "--allow-actions")
	p := open(t, address)
	p.visit("/jobs")
	p.reads("#jobs-workers", "transect worker")
	p.reads("#jobs-schedules", "transect schedule add")
	p.reads("#jobs-list", "transect submit")
	p.bothWidths("jobs-empty")

	// It fills by itself.
	s.run("schedule", "add", "nightly", "30 2 * * *", "--zone", "Europe/Paris", "flight.lua", "3")
	season := s.submit("season.lua")
	s.submit("--queue", "ortho", "wait.lua")
	p.reads("#jobs-schedules", "nightly")
	p.reads("#jobs-day", "No worker is running")
	s.start("worker", "--name", "m1", "--slots", "6")
	p.reads("#jobs-day", "season.lua: 3 of 12 jobs failed")
	p.reads("#jobs-day", "1 job waits in the queue ortho, which no worker serves")
	asks := s.submit("ask.lua")
	p.reads("#jobs-day", "needs a decision")
	p.bothWidths("jobs")
	p.media("screen", "dark")
	p.picture("jobs-dark")
	p.media("print", "light")
	p.picture("jobs-print")
	p.media("screen", "light")

	// From the line to what failed, to one of them, to its parent; by keyboard.
	p.enter(`#jobs-day .troubles a[href*="parent=` + season + `"]`)
	if n := eval[int](p, `document.querySelectorAll("#jobs-list tbody tr").length`); n != 3 {
		t.Errorf("%d failed jobs are listed", n)
	}
	p.picture("jobs-of-a-season")
	p.enter(`#jobs-list tbody tr:nth-child(1) a`)
	p.reads("#job-state", "exit code 1: the script raised an error")
	p.reads("#job-state", "refused <b>IMG_0012.JPG</b>")
	p.reads("#job-state", "transect jobs retry")
	p.reads("#log", "working on field")
	p.bothWidths("job-failed")
	p.click(`.crumbs a[href="/jobs/` + season + `"]`)
	p.reads("#job-state", "exit code 3: finished, but some items failed")
	p.reads("#job-state", "It submitted 12 jobs: 9 done 3 failed")
	p.bothWidths("job-season")
	p.visit("/jobs/" + asks)
	p.reads("#job-state", "transect runs settle job-"+asks)

	// What is done, each after a question.
	p.visit("/jobs?queue=ortho")
	p.click("#jobs-list td a")
	p.reads("#job-state", "start one with: transect worker --queues ortho")
	p.click(`a[href^="/actions/cancel-job"]`)
	p.reads("h1", "Cancel the job?")
	p.picture("job-cancel")
	p.click("main form button")
	p.reads("#job-state", "cancelled")
	p.click(`a[href^="/actions/retry-job"]`)
	p.click("main form button")
	p.reads("#job-state", "waiting")
	p.visit("/jobs")
	p.click(`a[href="/schedules/nightly"]`)
	p.reads("main", "None of its slots has passed yet")
	p.click(`a[href^="/actions/pause-schedule"]`)
	p.click("main form button")
	p.reads("#schedule-state", "paused")
	p.click(`a[href^="/actions/run-schedule"]`)
	p.click("main form button")
	p.reads("h1", "flight.lua 3") // the job
	p.reads("#job-state", "done")
	p.reads("#job-result", `"flight": "field-3"`)
	p.bothWidths("job-done")
	p.click(`.crumbs a[href="/schedules/nightly"]`)
	p.reads("#schedule-slots", "done")
	p.bothWidths("schedule")
	p.click(`a[href^="/actions/resume-schedule"]`)
	p.click("main form button")
	p.until(`!document.querySelector("#schedule-state").innerText.includes("paused")`)

	// Without JavaScript it tells the same.
	p.scripts(false)
	p.visit("/jobs")
	p.reads("#jobs-day", "season.lua: 3 of 12 jobs failed")
	p.reads("#jobs-list", "submitted 9 done 3 failed")
	p.picture("jobs-plain")
}

// The log of a job grows while somebody looks, in order and without loss, and stays
// where somebody reads above.
func TestJobLog(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	s.seasonScripts(0)
	s.start("worker", "--name", "m1")
	address, _ := s.ui("--jobs")
	p := open(t, address)
	id := s.submit("long.lua")
	p.visit("/jobs/" + id)
	p.reads("#log", "line 4000 <i>of</i> the survey")
	if wrong := eval[int](p, `document.getElementById("log").textContent.match(/^line \d+/gm).map(l => +l.slice(5)).filter((n, i, all) => i && n !== all[i - 1] + 1).length`); wrong > 0 {
		t.Errorf("%d lines are not in their place", wrong)
	}
	p.until(`(l => l.scrollHeight - l.scrollTop - l.clientHeight < 2)(document.getElementById("log"))`)
	eval[bool](p, `(document.getElementById("log").scrollTop = 100, true)`)
	s.write("go.txt", "")
	p.reads("#log", "the last line")
	p.reads("#job-state", "done") // without a reload
	p.reads("#job-result", `"ready": true`)
	if at := eval[int](p, `document.getElementById("log").scrollTop`); at != 100 {
		t.Errorf("the log was scrolled to %d", at)
	}
	p.visit("/jobs/" + id)
	if lines := eval[int](p, `document.getElementById("log").textContent.split("\n").length`); lines > 1000 {
		t.Errorf("the page begins with %d lines", lines)
	}
	p.click(`a[href$="/log"]`)
	p.reads("body", "line 1 <i>of")
	p.reads("body", "the last line")
	if n := eval[int](p, `document.querySelectorAll("i").length`); n != 0 {
		t.Error("lines became markup")
	}
}

// The pages of jobs are whole, and their scripts are silent, on both databases: empty,
// with some jobs, and with 100,000.
func TestJobsOfAnyNumber(t *testing.T) {
	needsBrowser(t)
	for _, n := range []int{0, 100, 100_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			jobstest.Each(t, func(t *testing.T, c jobs.Config) { pagesOfJobs(t, c, n) })
		})
	}
}

func pagesOfJobs(t *testing.T, c jobs.Config, n int) {
	s := newSite(t)
	if c.StateDir = filepath.Join(s.dir, "state"); c.URL != "" {
		s.env = append(s.env, "TRANSECT_JOBS="+c.URL)
	}
	store := jobstest.Open(t, c)
	if n > 0 {
		jobstest.Fill(t, store, n, 1)
	}
	address, _ := s.ui("--jobs", "--local", "--allow-actions")
	p := open(t, address)
	queue, seen := []string{"/", "/jobs", "/jobs?state=failed", "/jobs?queue=default"}, map[string]bool{}
	if n > 0 {
		queue = append(queue, fmt.Sprintf("/jobs/%d", n), "/jobs/1")
	}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		k := kind(path)
		if strings.HasPrefix(path, "/jobs?state") {
			k = path
		}
		if seen[k] || notPage(path) || strings.HasSuffix(path, "/result") {
			continue
		}
		seen[k] = true
		p.visit(path)
		if n < 100_000 { // the same pages are slower with more
			queue = append(queue, p.links()...)
		}
		p.fits(path)
		if said := p.console(); len(said) > 0 {
			t.Errorf("%s: the console has errors:\n%s", path, strings.Join(said, "\n"))
		}
	}
	t.Logf("%d pages", len(seen))
}
