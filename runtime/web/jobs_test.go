package web_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
	"transect/runtime/jobs/setting"
	"transect/runtime/timetable"
	"transect/runtime/web"
	"transect/testdata/jobstest"
)

func TestJobs(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, testJobs)
}

func testJobs(t *testing.T, store *jobs.Store) {
	submit := func(spec jobs.Spec) string {
		id, err := store.Submit(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(id)
	}
	first, second := submit(jobs.Spec{Script: "survey.lua", Args: []string{"<b>flight"}}), submit(jobs.Spec{Script: "report.lua", Settings: setting.Settings{Queue: "office"}})
	if err := schedule.Add(t.Context(), store, &schedule.Schedule{Name: "nightly", Rule: timetable.Rule{Expr: "30 2 * * *", Zone: "Europe/Paris"}, Spec: jobs.Spec{Script: "sync.lua"}}, false); err != nil {
		t.Fatal(err)
	}
	_, address, browser := page(t, func(o *web.Options) { o.JobStore, o.Actions = store, true })
	shows := func(path string, wants ...string) string {
		t.Helper()
		status, body := get(t, browser, address+path)
		for _, want := range wants {
			if status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s answers %d without %q", path, status, want)
			}
		}
		return body
	}
	shows("/jobs", "survey.lua &lt;b&gt;flight", "report.lua", "No worker is running", "nightly", "Europe/Paris", "never ran", "No job has ended")
	if body := shows("/jobs?queue=office", "report.lua"); strings.Contains(body, "survey.lua &lt;") {
		t.Error("the filter lets another queue through")
	}
	shows("/jobs/"+first, "waiting", "Cancel…", "has printed nothing yet")
	if status, _ := get(t, browser, address+"/jobs/99"); status != http.StatusNotFound {
		t.Error(status)
	}
	field := regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)
	act := func(action, name, value string) { // as the form of the question does it
		t.Helper()
		form := url.Values{}
		for _, f := range field.FindAllStringSubmatch(shows("/actions/"+action+"?"+name+"="+value), -1) {
			form.Set(f[1], html.UnescapeString(f[2]))
		}
		response, err := browser.PostForm(address+"/actions/"+action, form)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Error(action, response.Status)
		}
	}
	act("cancel-job", "job", first)
	shows("/jobs/"+first, "cancelled", "Run it again…")
	act("retry-job", "job", first)
	shows("/jobs/"+first, "waiting")
	act("pause-schedule", "schedule", "nightly")
	shows("/jobs", "paused", "Resume…")
	act("resume-schedule", "schedule", "nightly")
	act("run-schedule", "schedule", "nightly")
	shows("/jobs", "sync.lua")
	shows("/schedules/nightly", "30 2 * * *", "Europe/Paris", "run", "Pause…", "parts:schedule:nightly")
	live := follow(t, browser, address+"/events?topic=parts:schedule:nightly", "")
	if live.until(t, "event: parts"); !strings.Contains(live.until(t, "data: "), "schedule-slots") {
		t.Error("the slots of a schedule are not followed")
	}
	if status, _ := get(t, browser, address+"/schedules/nobody"); status != http.StatusNotFound {
		t.Error(status)
	}
	if status, _ := get(t, browser, address+"/actions/cancel-job?job="+first+"&job=x"); status != http.StatusOK {
		t.Error(status)
	}
	if status, _ := get(t, browser, address+"/actions/cancel-job?job=99"); status != http.StatusNotFound {
		t.Error(status)
	}
	shows("/jobs/"+second+"/log", "")

	_, address, browser = page(t, func(o *web.Options) { o.JobStore = store })
	if body := shows("/jobs/"+second, "report.lua"); strings.Contains(body, "Cancel…") {
		t.Error("a page that only reads offers an action")
	}
	if status, _ := get(t, browser, address+"/actions/cancel-job?job="+second); status != http.StatusForbidden {
		t.Error(status)
	}
}

// What somebody looks for at six in the morning: one line for each thing that went
// wrong, however many jobs it took, what stands still first, and where it leads.
func TestNight(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, testNight)
}

func testNight(t *testing.T, store *jobs.Store) {
	submit := func(spec jobs.Spec) int64 {
		t.Helper()
		id, err := store.Submit(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	ends := func(id int64, state jobs.State, code int, message string) {
		t.Helper()
		for _, statement := range []string{
			fmt.Sprintf("update tr_job set outcome = '%s', exit_code = %d, message = '%s', ended_at = %s, started_at = %s where job_id = %d", state, code, message, store.Now, store.Now, id),
			fmt.Sprintf("update river_job set state = 'discarded', finalized_at = scheduled_at where id = %d", id),
		} {
			if _, err := store.DB().ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	season := submit(jobs.Spec{Script: "season.lua"})
	for i := range 40 {
		part := submit(jobs.Spec{Script: "flight.lua", Args: []string{fmt.Sprint("field-", i)}, Parent: season})
		if i%4 == 0 {
			ends(part, jobs.Failed, 1, "no position in <b>IMG_12</b>")
		} else {
			ends(part, jobs.Done, 0, "")
		}
	}
	ends(season, jobs.DoneFailures, 3, "")
	asks := submit(jobs.Spec{Script: "order.lua"})
	ends(asks, jobs.NeedsDecision, 7, "")
	submit(jobs.Spec{Script: "ortho.lua", Settings: setting.Settings{Queue: "ortho"}})
	late := &schedule.Schedule{Name: "nightly", Rule: timetable.Rule{Expr: "30 2 * * *", Zone: "UTC"}, Spec: jobs.Spec{Script: "sync.lua"}}
	if err := schedule.Add(t.Context(), store, late, false); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"update tr_schedule set next_at = " + store.Now + " - 7200000",
		"insert into tr_worker (id, name, host, pid, queues, slots, stopping, started_at, lease_until, dead_at) values" +
			" ('1', 'm1', 'field', 1, 'm1,default', 4, 1, 1, " + store.Now + " + 15000, null)," +
			" ('2', 'm2', 'office', 2, 'm2,default', 4, 0, 1, " + store.Now + " - 60000, " + store.Now + ")," +
			" ('3', 'm3', 'office', 3, 'm3,default', 4, 0, 1, " + store.Now + " + 15000, " + store.Now + ")", // left
	} {
		if _, err := store.DB().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	_, address, browser := page(t, func(o *web.Options) { o.JobStore = store })
	inOrder := func(path string, wants ...string) {
		t.Helper()
		_, body := get(t, browser, address+path)
		rest := body
		for _, want := range wants {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s lacks %q, or not in its place:\n%s", path, want, body)
				return
			}
			rest = after
		}
	}
	lines := []string{"1 job waits in the queue ortho, which no worker serves", "transect worker --queues ortho", "The schedule nightly has been overdue since",
		fmt.Sprintf("/jobs/%d", asks), "order.lua: needs a decision", fmt.Sprintf("runs settle job-%d", asks),
		fmt.Sprintf("/jobs?parent=%d&amp;state=failed", season), "season.lua: 10 of 40 jobs failed", "exit code 3", "no position in &lt;b&gt;", "The worker m2 on office died"}
	inOrder("/jobs", append(append([]string{"30 done", "1 done with failures", "10 failed", "1 needs a decision", "1 waiting"}, lines...),
		"m1", "stopping", "m2", "died", "overdue", "Jobs that other jobs submitted", "season.lua", "30 done", "10 failed")...)
	inOrder("/", append([]string{"Needs attention"}, lines...)...)
	_, body := get(t, browser, address+fmt.Sprintf("/jobs?parent=%d&state=failed", season))
	_, list, _ := strings.Cut(body, `id="jobs-list"`)
	if n := strings.Count(list, "flight.lua"); n != 10 {
		t.Errorf("%d failed jobs of the season are listed", n)
	}
	inOrder(fmt.Sprintf("/jobs/%d", season), "done with failures", "exit code 3: finished, but some items failed", fmt.Sprintf("transect jobs retry %d", season), "It submitted 40 jobs", "30 done", "10 failed")
	inOrder(fmt.Sprintf("/jobs/%d", season+1), fmt.Sprintf(`<a href="/jobs/%d">job %d</a>`, season, season), "failed", "Read the error")
	inOrder("/jobs?state=not+well", "10 failed", "order.lua", "flight.lua")
	if _, err := store.DB().ExecContext(t.Context(), fmt.Sprintf(`insert into tr_run (job_id, attempt, epoch, worker_id, worker, started_at, ended_at, exit_code, outcome, record)
		values (%d, 1, 1, 'w', 'alpha', 1000, 61000, 7, 'needs a decision', '{"summary":{"script":"/x/order.lua","end":{"seconds":60,"exit_code":7,"outcome":"decision",
		"operations":{"datasets.create":{"count":3,"failed":1}},"error":{"name":"UnknownOutcomeError","message":"nobody knows"}}},"progress":{"samples":[]}}')`, asks)); err != nil {
		t.Fatal(err)
	}
	inOrder(fmt.Sprintf("/jobs/%d", asks), "alpha", fmt.Sprintf(`<a href="/runs/job-%d">`, asks))
	inOrder(fmt.Sprintf("/runs/job-%d", asks), "order.lua", "decision", "UnknownOutcomeError", "nobody knows", fmt.Sprintf(`<a href="/jobs/%d">job %d</a>`, asks, asks), "datasets.create")
	if status, _ := get(t, browser, address+"/runs/job-9999"); status != http.StatusNotFound {
		t.Error(status)
	}
	inOrder("/jobs?queue=nothing", "No job matches")
	inOrder("/schedules/nightly", "overdue", "None of its slots has passed yet")
}

// Every page opens on both databases: empty, when all has gone well, and when a job
// of each kind has failed.
func TestPagesOnEachDatabase(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		_, address, browser := page(t, func(o *web.Options) { o.JobStore, o.Actions = store, true })
		paths := append([]string{"/jobs", "/jobs?state=failed", "/jobs?state=not+well", "/jobs?queue=office", "/jobs?parent=1", "/jobs?schedule=nightly",
			"/jobs?script=x", "/jobs?worker=m1", "/datasets.csv", "/api/map"}, sections...)
		opens := func(when string) {
			t.Helper()
			for _, path := range paths {
				if status, body := get(t, browser, address+path); status != http.StatusOK {
					t.Errorf("%s, %s answers %d: %s", when, path, status, body)
				}
			}
		}
		opens("empty")
		if err := schedule.Add(t.Context(), store, &schedule.Schedule{Name: "nightly", Rule: timetable.Rule{Expr: "30 2 * * *", Zone: "UTC"}, Spec: jobs.Spec{Script: "sync.lua"}}, false); err != nil {
			t.Fatal(err)
		}
		var all []int64
		for _, spec := range []jobs.Spec{{Script: "survey.lua"}, {Script: "part.lua", Parent: 1}, {Script: "sync.lua", Schedule: "nightly"}} {
			id, err := store.Submit(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, id)
			paths = append(paths, fmt.Sprintf("/jobs/%d", id), fmt.Sprintf("/jobs/%d/log", id), fmt.Sprintf("/actions/cancel-job?job=%d", id))
		}
		paths = append(paths, "/schedules/nightly", "/actions/pause-schedule?schedule=nightly")
		opens("with waiting jobs")
		for _, state := range []jobs.State{jobs.Done, jobs.Failed, jobs.NeedsDecision} {
			for i, id := range all {
				for _, statement := range []string{
					fmt.Sprintf("update tr_job set outcome = '%s', ended_at = %s where job_id = %d", state, store.Now, id),
					fmt.Sprintf("update river_job set state = 'discarded', finalized_at = scheduled_at where id = %d", id),
				} {
					if _, err := store.DB().ExecContext(t.Context(), statement); err != nil {
						t.Fatal(err)
					}
				}
				opens(fmt.Sprintf("with %d jobs %s", i+1, state))
			}
		}
	})
}
