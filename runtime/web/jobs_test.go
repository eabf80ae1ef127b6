package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
	"transect/runtime/web"
	"transect/testdata/jobstest"
)

func TestJobs(t *testing.T) {
	t.Parallel()
	store := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	submit := func(spec jobs.Spec) string {
		id, err := store.Submit(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(id)
	}
	first, second := submit(jobs.Spec{Script: "survey.lua", Args: []string{"<b>flight"}}), submit(jobs.Spec{Script: "report.lua", Queue: "office"})
	if err := schedule.Add(t.Context(), store, &schedule.Schedule{Name: "nightly", Expr: "30 2 * * *", Zone: "Europe/Paris", Spec: jobs.Spec{Script: "sync.lua"}}, false); err != nil {
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
	shows("/jobs", "survey.lua &lt;b&gt;flight", "report.lua", "No worker lives", "nightly", "Europe/Paris", "never ran", "No job has ended")
	if body := shows("/jobs?queue=office", "report.lua"); strings.Contains(body, "survey.lua &lt;") {
		t.Error("the filter lets another queue through")
	}
	shows("/jobs/"+first, "waiting", "Cancel…", "has printed nothing yet")
	if status, _ := get(t, browser, address+"/jobs/99"); status != http.StatusNotFound {
		t.Error(status)
	}
	form := regexp.MustCompile(`name="form" value="([^"]+)"`)
	act := func(action, name, value string) {
		t.Helper()
		token := form.FindStringSubmatch(shows("/actions/" + action + "?" + name + "=" + value))
		if token == nil {
			t.Fatal("no form asks for " + action)
		}
		response, err := browser.PostForm(address+"/actions/"+action, url.Values{"form": {token[1]}, name: {value}})
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
