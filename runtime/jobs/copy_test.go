package jobs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// From SQLite to PostgreSQL, and from there to SQLite again, nothing changes.
func TestCopy(t *testing.T) {
	t.Parallel()
	first, shared, back := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()}), jobstest.Open(t, jobs.Config{URL: jobstest.Database(t)}), jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	var ids []int64
	for _, spec := range []jobs.Spec{{Args: []string{`a "b" ü`, "{}"}, Env: []string{"A=b"}}, {In: time.Hour, Queue: "gpu", Priority: 1}, {Key: "k", Retries: 3, Late: time.Minute, OnFailure: "env:HOOK"}, {}} {
		spec.Script = "survey.lua"
		id, err := first.Submit(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	run := startRun(t, first, ids[0], "alpha", 1)
	startRun(t, first, ids[3], "alpha", 1)
	for _, statement := range []string{"insert into tr_log (run_id, seq, at, stream, lines) values ($1, 1, 5, 'out', 'one' || char(10) || 'nul ' || char(0) || char(10))",
		"insert into tr_ledger (run, at, epoch, bytes) values ('job-1', 0, $1, x'00ff80')", "insert into tr_notice (about, target, command, event, body, send_at) values ('x', 'y', 0, '', '{}', $1)"} {
		if _, err := first.DB().Exec(statement, run); err != nil {
			t.Fatal(statement, err)
		}
	}
	endRun(t, first, ids[0], run, 3)
	if _, err := first.DB().Exec("insert into tr_schedule (name, cron, zone, spec, catch_up, overlap, next_due) values ('nightly', '@daily', 'UTC', '{}', 'last', 'skip', 1)"); err != nil {
		t.Fatal(err)
	}
	_, err := first.Copy(t.Context(), shared)
	fails(t, err, "a worker works on "+first.Name()+": alpha")
	exec(t, first, "update tr_worker set dead_at = 1")
	for i, to := range []struct{ from, to *jobs.Store }{{first, shared}, {shared, back}} {
		n, err := to.from.Copy(t.Context(), to.to)
		if err != nil || n.Jobs != 4 || n.Schedules != 1 || n.Rows < 10 {
			t.Fatal(n, err)
		}
		if got, want := everything(t, to.to), everything(t, to.from); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		_, err = to.from.Copy(t.Context(), to.to)
		fails(t, err, "it holds jobs (4) or schedules (1)")
		id, err := to.to.Submit(t.Context(), jobs.Spec{Script: "next.lua"})
		if err != nil || id != ids[3]+1+int64(i) { // the one removed from the first copy is not given again
			t.Error(id, err)
		}
		if err := to.to.Remove(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []*jobs.Store{shared, back} { // River reads what was copied
		if err := s.Cancel(t.Context(), ids[2]); err != nil {
			t.Error(err)
		}
		if err := s.Retry(t.Context(), ids[0]); err != nil {
			t.Error(err)
		}
	}
}

// everything is what users see.
func everything(t *testing.T, s *jobs.Store) string {
	list, err := s.List(t.Context(), jobs.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	all := string(text)
	for _, query := range []string{"select cast(seq as text) || stream || lines from tr_log order by 1", "select next_due || name from tr_schedule", "select cast(id as text) || worker from tr_run order by id",
		"select bytes from tr_ledger", "select cast(late_at as text) from tr_watch", "select cast(id as text) || about from tr_notice"} {
		rows, err := s.DB().Query(query)
		if err != nil {
			t.Fatal(query, err)
		}
		for rows.Next() {
			var row []byte
			if err := rows.Scan(&row); err != nil {
				t.Fatal(query, err)
			}
			all += fmt.Sprintf("\n%s: %q", query, bytes.ReplaceAll(row, []byte{0}, []byte("\uFFFD")))
		}
		rows.Close()
	}
	return all
}
