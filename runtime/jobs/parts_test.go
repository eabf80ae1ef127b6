package jobs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// end makes a job one that has ended.
func end(t *testing.T, s *jobs.Store, id int64, state jobs.State) {
	t.Helper()
	river := map[jobs.State]string{jobs.Done: "completed"}[state]
	if river == "" {
		river = "discarded"
	}
	for _, statement := range []string{"update river_job set state = '" + river + "', finalized_at = current_timestamp where id = $1",
		"update tr_job set outcome = '" + string(state) + "', exit_code = 1, message = 'it broke' where job_id = $1"} {
		if _, err := s.DB().Exec(statement, id); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPartsAreSubmittedOnce(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		part := jobs.Part{Key: "night-1/a/1", Spec: jobs.Spec{Script: "part.lua", Args: []string{"1"}}, Bundle: scriptOf("zip")}
		one, mended := part.Bundle.Hash, scriptOf("zip 2")
		first, err := s.SubmitPart(t.Context(), part)
		if err != nil {
			t.Fatal(err)
		}
		part.Bundle = mended
		if again, err := s.SubmitPart(t.Context(), part); err != nil || again != first {
			t.Errorf("submitted again it is job %d, %v", again, err)
		}
		end(t, s, first, jobs.Done)
		if again, err := s.SubmitPart(t.Context(), part); err != nil || again != first {
			t.Errorf("when it is done: job %d, %v", again, err)
		}
		if job, err := s.Get(t.Context(), first); err != nil || job.State != jobs.Done || job.Bundle != one {
			t.Errorf("what is done is %+v, %v", job, err)
		}
		end(t, s, first, jobs.Failed)
		if again, err := s.SubmitPart(t.Context(), part); err != nil || again != first {
			t.Errorf("when it has failed: job %d, %v", again, err)
		}
		if job, err := s.Get(t.Context(), first); err != nil || job.State != jobs.Waiting || job.Bundle != mended.Hash || job.Queue != "default" || job.Args[0] != "1" {
			t.Errorf("what had failed is %+v, %v", job, err)
		}
		var kept string
		if err := s.DB().QueryRow("select bundle from tr_job where job_id = $1", first).Scan(&kept); err != nil || kept != mended.Hash {
			t.Errorf("the mended script is not kept for it: %q %v", kept, err)
		}
		part.Key = "night-1/a/2"
		if other, err := s.SubmitPart(t.Context(), part); err != nil || other == first {
			t.Errorf("another part is job %d, %v", other, err)
		}
		if err := s.Remove(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		part.Key = "night-1/a/1"
		if again, err := s.SubmitPart(t.Context(), part); err != nil || again == first {
			t.Errorf("after its removal: job %d, %v", again, err)
		}
	})
}

func TestEndedJobs(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		var ids []int64
		for range 12 {
			id := submitted(t, s)
			if err := s.PutResult(t.Context(), id, begin(t, s, id), []byte(`"`+strings.Repeat("x", 1<<20-2)+`"`)); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		if ended, err := s.EndedParts(t.Context(), ids); err != nil || len(ended) != 0 {
			t.Errorf("%d have ended, %v", len(ended), err)
		}
		for i, id := range ids {
			end(t, s, id, []jobs.State{jobs.Done, jobs.DoneFailures, jobs.Failed}[i%3])
		}
		ended, err := s.EndedParts(t.Context(), ids)
		if err != nil || len(ended) < 2 || len(ended) == len(ids) {
			t.Fatalf("%d of %d large ones come at once, %v", len(ended), len(ids), err)
		}
		for _, e := range ended {
			if e.OK != (e.State == "done") || len(e.Result) != 1<<20 || e.Message != "it broke" || *e.ExitCode != 1 {
				t.Errorf("job %d is %s, ok %v, %q, %d bytes", e.ID, e.State, e.OK, e.Message, len(e.Result))
			}
		}
		if err := s.Remove(t.Context(), ids[11]); err != nil {
			t.Fatal(err)
		}
		if ended, err := s.EndedParts(t.Context(), ids[11:]); err != nil || len(ended) != 1 || ended[0].OK || ended[0].State != "removed" {
			t.Errorf("a removed job: %+v %v", ended, err)
		}
		_, err = s.EndedParts(t.Context(), []int64{ids[0], 999})
		if missing, _ := errors.AsType[*fault.KeyError](err); missing == nil {
			t.Errorf("an unknown job: %v", err)
		}
	})
}

// A job's process submits with what its own job was submitted with, while it
// holds the job.
func TestPartsOfAJob(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		parent, err := s.Submit(t.Context(), jobs.Spec{Script: "season.lua", Run: []string{"--local", "--report=season.json"}, Env: []string{"TRANSECT_SETTLE=1s", "TRANSECT_METRICS=x"}, Folder: "/data", User: "me@here"})
		if err != nil {
			t.Fatal(err)
		}
		answers := s.Answers(t.Context(), parent, begin(t, s, parent), func() {}, jobs.Patience{Try: time.Minute, Moved: func() {}})
		call := func(name string, in any) (any, error) {
			text, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			return answers[name](t.Context(), text)
		}
		id, err := call("jobs.submit", jobs.Part{Key: "k", Spec: jobs.Spec{Script: "@ingest", Run: []string{"--sandbox=true"}}})
		if err != nil {
			t.Fatal(err)
		}
		job, err := s.Get(t.Context(), id.(int64))
		if err != nil || job.Parent != parent || job.Folder != "/data" || job.User != "me@here" || strings.Join(job.Run, " ") != "--sandbox=true --local" || len(job.Env) != 1 {
			t.Errorf("%+v, %v", job, err)
		}
		if _, err := call("result", json.RawMessage(`{"n":1}`)); err != nil {
			t.Error(err)
		}
		if v, err := s.Result(t.Context(), parent); err != nil || string(v) != `{"n":1}` {
			t.Errorf("%s, %v", v, err)
		}
		begin(t, s, parent)
		for name, in := range map[string]any{"jobs.submit": jobs.Part{Key: "k2", Spec: jobs.Spec{Script: "@ingest"}}, "result": 1} {
			_, err := call(name, in)
			if taken, _ := errors.AsType[*fault.CancelledError](err); taken == nil {
				t.Errorf("%s after the takeover: %v", name, err)
			}
		}
	})
}
