package jobs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/unattended/history"
	"transect/testdata/jobstest"
)

// The run of a job has one record: what its newest attempt says of itself, or what its
// worker knows of one that said nothing.
func TestRecord(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		id, err := s.Submit(t.Context(), jobs.Spec{Script: "survey.lua", Args: []string{"flight"},
			Run: []string{"--apply=c0de:/a/b.plan"}, User: "ada@desk"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Record(t.Context(), id); err == nil {
			t.Error("a job that has not started has a record")
		}
		is := func(state, script string, exit int) *jobs.Record {
			t.Helper()
			r, err := s.Record(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if r.Summary.State != state || r.Summary.Script != script || r.Summary.ID != jobs.RunID(id) ||
				r.Summary.Plan != "c0de" || !strings.Contains(r.Summary.AgreedBy, "ada@desk") || (r.Summary.End != nil) != (state == history.Ended) ||
				r.Summary.End != nil && r.Summary.End.ExitCode != exit {
				t.Errorf("%+v, want %s of %s", r.Summary, state, script)
			}
			return r
		}
		says := func(epoch int64, record string) {
			t.Helper()
			if _, err := s.Answers(t.Context(), id, epoch, func() {}, jobs.Patience{Try: time.Minute, Moved: func() {}})["record"](t.Context(), json.RawMessage(record)); err != nil {
				t.Fatal(err)
			}
		}
		first := startRun(t, s, id, "alpha", 1)
		is(history.Running, "survey.lua", 0)
		says(1, `{"summary":{"script":"/x/survey.lua","plan":"c0de","agreed_by":"worker@far"},"progress":{"items_done":3,"samples":[]}}`)
		if r := is(history.Running, "/x/survey.lua", 0); r.Progress.ItemsDone != 3 {
			t.Errorf("%+v", r.Progress)
		}
		exec(t, s, fmt.Sprintf("update tr_run set ended_at = %s, outcome = 'lost' where id = %d", s.Now, first))
		is(history.Lost, "/x/survey.lua", 0)

		second := startRun(t, s, id, "beta", 2)
		says(1, `{"summary":{"script":"late"}}`) // a killed attempt writes over nothing
		is(history.Running, "survey.lua", 0)
		endRun(t, s, id, second, 3)
		is(history.Ended, "survey.lua", 3)
		says(2, `{"summary":{"script":"late"}}`)
		is(history.Ended, "survey.lua", 3)
	})
}

// A question that the database does not answer, while it answers others, is asked again,
// and said once.
func TestSilentDatabase(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		id := submitted(t, s)
		startRun(t, s, id, "alpha", 1)
		lock, err := s.DB().BeginTx(t.Context(), nil)
		if err == nil { // as a connection that has gone silent in the middle
			_, err = lock.Exec("update tr_run set record = '{}' where job_id = $1", id)
		}
		if err != nil {
			t.Fatal(err)
		}
		told := make(chan error, 9)
		patience := jobs.Patience{Try: 200 * time.Millisecond, Slow: func(_ time.Time, why error) {
			if told <- why; why != nil {
				_ = lock.Rollback()
			}
		}}
		if _, err := s.Answers(t.Context(), id, 1, func() {}, patience)["record"](t.Context(), json.RawMessage(`{"summary":{"script":"late"}}`)); err != nil {
			t.Fatal(err)
		}
		if why, answered := <-told, <-told; why == nil || answered != nil || len(told) > 0 {
			t.Errorf("told %v, then %v, and %d more", why, answered, len(told))
		}
		if r, err := s.Record(t.Context(), id); err != nil || r.Summary.Script != "late" {
			t.Errorf("%+v %v", r, err)
		}
	})
}
