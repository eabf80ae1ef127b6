package stdlib_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"transect/client/fault"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib"
)

// workers run jobs in no time, the newest first: their result are their arguments.
// A job with the argument "bad" fails, one with "stuck" never ends.
type workers struct {
	mu   sync.Mutex
	jobs []stdlib.JobRequest
	open int // submitted, and not seen to have ended
	most int
}

func (w *workers) queue() *stdlib.Jobs {
	return &stdlib.Jobs{
		Submit: func(_ context.Context, r stdlib.JobRequest) (int64, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.jobs = append(w.jobs, r)
			w.open++
			w.most = max(w.most, w.open)
			return int64(len(w.jobs)), nil
		},
		Ended: func(_ context.Context, ids []int64) ([]stdlib.EndedJob, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			id := slices.Max(ids)
			r, code := w.jobs[id-1], 0
			result, _ := json.Marshal(r.Args)
			job := stdlib.EndedJob{ID: id, State: "done", OK: true, ExitCode: &code, Result: result}
			switch {
			case slices.Contains(r.Args, "stuck"):
				return nil, nil
			case slices.Contains(r.Args, "bad"):
				code = 1
				job = stdlib.EndedJob{ID: id, State: "failed", ExitCode: &code, Message: "no such flight"}
			}
			w.open--
			return []stdlib.EndedJob{job}, nil
		},
	}
}

func (w *workers) options() (o vm.Options) {
	stdlib.UseJobs(&o, w.queue())
	return o
}

func TestMapGivesOutcomesInTheItemsOrder(t *testing.T) {
	w := &workers{}
	out, _, err := run(t, w.options(), `
local jobs, flights = require("jobs"), {}
for i = 1, 40 do flights[i] = "flight-" .. i end
flights[7] = "bad"
local done = jobs.map(flights, { script = "s.lua", concurrency = 5, queue = "q", retries = 2, timeout = 60, args = function(flight, i)
  if i == 9 then error("no weather") end
  return { flight, i, true }
end })
assert(#done == 40)
for i, o in ipairs(done) do
  assert(o.item == flights[i])
  if i ~= 7 and i ~= 9 then assert(o.ok and o.state == "done" and o.exit_code == 0 and o.result[1] == flights[i] and o.result[2] == tostring(i)) end
end
print(done[7].state, done[7].message, done[7].ok, done[7].exit_code, done[7].result)
print(done[9].state, done[9].ok, done[9].job)
print((done[9].message:gsub("^.-: ", "")))
print(#jobs.map({}, { script = "s.lua" }), jobs.map({ 5 }, { script = "s.lua" })[1].result[1])`)
	want := "failed\tno such flight\tfalse\t1\tnil\nnot submitted\tfalse\tnil\nno weather\n0\t5\n"
	if err != nil || out != want {
		t.Errorf("%v\n%s", err, out)
	}
	if r := w.jobs[0]; w.most > 5 || len(w.jobs) != 40 || r.Queue != "q" || r.Retries != 2 || r.Timeout.Seconds() != 60 || r.Priority != 2 || r.Script != "s.lua" {
		t.Errorf("%d at a time, %d in all, such as %+v", w.most, len(w.jobs), r)
	}
}

func TestWaitingForJobs(t *testing.T) {
	for code, want := range map[string]string{
		`jobs.result(jobs.submit{ script = "s.lua", args = { "bad" } })`:                     "job 1 did not succeed, its state is failed: no such flight",
		`jobs.wait(jobs.submit{ script = "s.lua", args = { "stuck" } }, { timeout = 0.01 })`: "1 of the jobs have not ended",
		`jobs.wait("a")`:                                                             "must be the ID of a job or a list of IDs, got a string",
		`jobs.wait({ 1, 1.5 })`:                                                      "must be the ID of a job",
		`jobs.submit{ script = "s.lua", args = 5 }`:                                  "option args must be a table",
		`jobs.submit{ script = "s.lua", args = { 5, {} } }`:                          "argument 2 of the script: must be a string, a number or a boolean, got a table",
		`jobs.submit{ script = "s.lua", queue = "a", on = "b" }`:                     "queue and on cannot be combined",
		`jobs.submit{ args = {} }`:                                                   "option script is missing",
		`jobs.submit{ script = "s.lua", priority = 9 }`:                              "priority",
		`jobs.map({ {} }, { script = "s.lua", args = function() return print end })`: "got a function",
	} {
		_, _, err := run(t, (&workers{}).options(), `local jobs = require("jobs") `+code)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", code, err)
		}
	}
	if _, _, err := run(t, (&workers{}).options(), `local jobs = require("jobs")
local list = jobs.wait{ jobs.submit{ script = "a.lua" }, jobs.submit{ script = "b.lua", args = { "bad" } } }
assert(list[1].ok and not list[2].ok and #jobs.wait{} == 0)
assert(jobs.result(list[1].job) == nil)`); err != nil {
		t.Error(err)
	}
}

func TestSubmittingNeedsPermission(t *testing.T) {
	w := &workers{}
	opt := w.options()
	opt.Permit = func(a sandbox.Access, what string) error {
		return fault.Of(&fault.PermissionError{}, "no %s=%s", a, what)
	}
	_, _, err := run(t, opt, `require("jobs").submit{ script = "s.lua" }`)
	if err == nil || !strings.Contains(err.Error(), "no ops=jobs.submit") || len(w.jobs) > 0 {
		t.Errorf("%v, %d jobs", err, len(w.jobs))
	}
}
