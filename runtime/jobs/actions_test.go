package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/bundle"
	"transect/runtime/jobs/setting"
	"transect/testdata/jobstest"
)

func submit(t *testing.T, s *jobs.Store, spec jobs.Spec) int64 {
	t.Helper()
	if spec.Script == "" {
		spec.Script = "a.lua"
	}
	id, err := s.Submit(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// exec runs statements as a worker would.
func exec(t *testing.T, s *jobs.Store, statements ...string) {
	t.Helper()
	if err := s.Tx(context.Background(), func(tx *jobs.Tx) error {
		for _, statement := range statements {
			if _, err := tx.Exec(statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// startRun makes a job run on a worker, as its nth attempt.
func startRun(t *testing.T, s *jobs.Store, id int64, worker string, attempt int) (run int64) {
	t.Helper()
	exec(t, s,
		fmt.Sprintf("insert into tr_worker (id, name, host, pid, queues, slots, started_at, lease_until) values ('%[1]s', '%[1]s', 'h', 1, 'default,%[1]s', 2, %[2]s, %[2]s + 15000) on conflict do nothing", worker, s.Now),
		fmt.Sprintf("update river_job set state = 'running', finalized_at = null where id = %d", id),
		fmt.Sprintf("update tr_job set epoch = epoch + 1, outcome = '', started_at = %s where job_id = %d", s.Now, id),
		fmt.Sprintf("insert into tr_run (job_id, attempt, epoch, worker_id, worker, started_at) values (%[1]d, %[2]d, %[2]d, '%[3]s', '%[3]s', %[4]s)", id, attempt, worker, s.Now))
	attempts, err := s.Attempts(t.Context(), id)
	if err != nil || len(attempts) == 0 {
		t.Fatal(attempts, err)
	}
	return attempts[len(attempts)-1].Run
}

// endRun ends the job of a run with an exit code.
func endRun(t *testing.T, s *jobs.Store, id, run int64, code int) {
	t.Helper()
	state, outcome := "discarded", jobs.ByExitCode(code)
	if code == 0 || code == 3 {
		state = "completed"
	}
	exec(t, s, fmt.Sprintf("update river_job set state = '%s', finalized_at = current_timestamp where id = %d", state, id),
		fmt.Sprintf("update tr_run set ended_at = %s, exit_code = %d, outcome = '%s' where id = %d", s.Now, code, outcome, run),
		fmt.Sprintf("update tr_job set ended_at = %s, exit_code = %d, outcome = '%s' where job_id = %d", s.Now, code, outcome, id))
}

func fails(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, not %s", err, want)
	}
}

func TestCancelRetryRemove(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		ctx := t.Context()
		state := func(id int64, want jobs.State) {
			t.Helper()
			if job, err := s.Get(ctx, id); err != nil || job.State != want {
				t.Fatalf("%+v %v, not %s", job, err, want)
			}
		}
		id := submit(t, s, jobs.Spec{})
		if err := s.Cancel(ctx, id); err != nil {
			t.Fatal(err)
		}
		state(id, jobs.Cancelled)
		fails(t, s.Cancel(ctx, id), "has ended: cancelled")
		if err := s.Retry(ctx, id); err != nil {
			t.Fatal(err)
		}
		state(id, jobs.Waiting)
		run := startRun(t, s, id, "alpha", 1)
		state(id, jobs.Running)
		fails(t, s.Retry(ctx, id), "is running")
		fails(t, s.Remove(ctx, id), "is running")
		if err := s.Cancel(ctx, id); err != nil {
			t.Fatal(err)
		}
		if job, err := s.Get(ctx, id); err != nil || !job.Cancelled || job.State != jobs.Running || job.Worker != "alpha" {
			t.Errorf("%+v %v", job, err)
		}
		endRun(t, s, id, run, 7)
		state(id, jobs.NeedsDecision)
		if err := s.Retry(ctx, id); err != nil {
			t.Fatal(err)
		}
		if job, err := s.Get(ctx, id); err != nil || job.Cancelled || job.State != jobs.Waiting || job.ExitCode != nil {
			t.Errorf("%+v %v", job, err)
		}
		endRun(t, s, id, startRun(t, s, id, "alpha", 2), 0)
		fails(t, s.Retry(ctx, id), "is done")
		if list, err := s.List(ctx, jobs.Filter{Worker: "alpha", States: []jobs.State{jobs.Done}, Script: "a.l", Limit: 3}); err != nil || len(list) != 1 {
			t.Error(list, err)
		}
		if list, err := s.List(ctx, jobs.Filter{Script: "a_l"}); err != nil || len(list) != 0 {
			t.Error(list, err)
		}
		if err := s.Remove(ctx, id); err != nil {
			t.Fatal(err)
		}
		fails(t, s.Remove(ctx, id), "there is no job")
		fails(t, s.Cancel(ctx, id), "there is no job")
	})
}

func TestLogsAndFollowing(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		ctx := t.Context()
		id := submit(t, s, jobs.Spec{})
		add := func(run, seq int64, worker, lines string) bool {
			alive, err := s.AppendLog(context.Background(), worker, jobs.Batch{Run: run, Seq: seq, Stream: jobs.StreamOut, Lines: lines})
			if err != nil {
				t.Error(err)
			}
			return alive
		}
		first := startRun(t, s, id, "alpha", 1)
		done := make(chan string)
		go func() {
			var text strings.Builder
			job, err := s.Follow(ctx, id, jobs.Position{}, func(b jobs.Batch) error { text.WriteString(b.Lines); return nil })
			if err != nil || job.State != jobs.DoneFailures {
				t.Error(job, err)
			}
			done <- text.String()
		}()
		var want strings.Builder
		for n := range int64(250) {
			line := fmt.Sprintf("one %d\n", n)
			want.WriteString(line)
			if !add(first, n+1, "alpha", line) {
				t.Fatal("the worker lives")
			}
		}
		if !add(first, 250, "alpha", "again\n") {
			t.Error("a batch sent again is no sign of death")
		}
		exec(t, s, "update tr_worker set dead_at = 1 where id = 'alpha'")
		if add(first, 251, "alpha", "late\n") {
			t.Error("a dead worker added to the log")
		}
		second := startRun(t, s, id, "beta", 2)
		add(second, 1, "beta", "two\n")
		want.WriteString("two\n")
		endRun(t, s, id, second, 3)
		if got := <-done; got != want.String() {
			t.Errorf("%d bytes of %d: %.100s", len(got), want.Len(), got)
		}
	})
}

func TestResults(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		ctx := t.Context()
		id := submit(t, s, jobs.Spec{})
		startRun(t, s, id, "alpha", 1)
		if value, err := s.Result(ctx, id); err != nil || value != nil {
			t.Error(string(value), err)
		}
		if err := s.PutResult(ctx, id, 1, []byte(`{"a": 1}`)); err != nil {
			t.Fatal(err)
		}
		fails(t, s.PutResult(ctx, id, 0, []byte("2")), "another attempt")
		fails(t, s.PutResult(ctx, id, 1, []byte("{")), "not JSON")
		fails(t, s.PutResult(ctx, id, 1, []byte(`"`+strings.Repeat("x", jobs.MaxResult)+`"`)), "more than the 1,048,576 (1 MiB)")
		if value, err := s.Result(ctx, id); err != nil || string(value) != `{"a": 1}` {
			t.Error(string(value), err)
		}
		_, err := s.Result(ctx, 999)
		fails(t, err, "there is no job")
	})
}

func TestWorkersAndStats(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		ctx := t.Context()
		a, b := submit(t, s, jobs.Spec{}), submit(t, s, jobs.Spec{})
		submit(t, s, jobs.Spec{Settings: setting.Settings{Queue: "office"}})
		startRun(t, s, a, "alpha", 1)
		endRun(t, s, b, startRun(t, s, b, "alpha", 1), 5)
		startRun(t, s, submit(t, s, jobs.Spec{}), "beta", 1)
		exec(t, s, "update tr_worker set dead_at = 1 where id = 'beta'")
		list, err := s.Workers(ctx, false)
		if err != nil || len(list) != 1 || list[0].Name != "alpha" || len(list[0].Jobs) != 1 || list[0].Jobs[0] != a || list[0].Queues[1] != "alpha" {
			t.Error(list, err)
		}
		if list, err := s.Workers(ctx, true); err != nil || len(list) != 2 {
			t.Error(list, err)
		}
		stats, err := s.Stats(ctx, time.Hour)
		if err != nil || stats.Queues["office"][jobs.Waiting] != 1 || stats.Queues["default"][jobs.Running] != 2 || stats.Ended[jobs.Failed] != 1 || stats.Workers != 1 || stats.Slots != 2 || stats.Size == 0 {
			t.Errorf("%+v %v", stats, err)
		}
	})
}

func TestPrune(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		ctx := t.Context()
		dir := t.TempDir()
		keep, drop := packed(t, s, dir, "keep"), packed(t, s, dir, "drop")
		old, open, recent := submit(t, s, jobs.Spec{Bundle: drop}), submit(t, s, jobs.Spec{}), submit(t, s, jobs.Spec{Bundle: keep})
		endRun(t, s, old, startRun(t, s, old, "alpha", 1), 0)
		run := startRun(t, s, recent, "alpha", 1)
		if _, err := s.AppendLog(ctx, "alpha", jobs.Batch{Run: run, Seq: 1, Lines: "x\n"}); err != nil {
			t.Fatal(err)
		}
		endRun(t, s, recent, run, 0)
		exec(t, s, fmt.Sprintf("update tr_job set ended_at = ended_at - 100000 where job_id = %d", old), "update tr_bundle set at = 1",
			fmt.Sprintf("update tr_run set ended_at = ended_at - 100000 where id = %d", run))
		removed, err := s.Prune(ctx, jobs.Retention{Jobs: time.Minute, Logs: time.Minute})
		if err != nil || removed != 1 {
			t.Fatal(removed, err)
		}
		if list, err := s.List(ctx, jobs.Filter{}); err != nil || len(list) != 2 || list[1].ID != open {
			t.Error(list, err)
		}
		if log, err := s.Log(ctx, recent, jobs.Position{}); err != nil || len(log) != 0 {
			t.Error(log, err)
		}
		if _, err := s.Bundle(ctx, keep); err != nil {
			t.Error(err)
		}
		_, err = s.Bundle(ctx, drop)
		fails(t, err, "no longer stored")
	})
}

func packed(t *testing.T, s *jobs.Store, dir, name string) string {
	t.Helper()
	b, err := bundle.Make(bundle.Source{Script: jobstest.Script(t, dir, name+".lua", "print('"+name+"')")})
	if err != nil {
		t.Fatal(err)
	}
	hash, err := s.PutBundle(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.PutBundle(t.Context(), b); err != nil || again != hash {
		t.Error(again, err)
	}
	return hash
}

// What others keep by the id of a job, such as its folders on workers, is never that
// of another job.
func TestIDsAreGivenOnce(t *testing.T) {
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		first := submit(t, s, jobs.Spec{})
		for range 2 {
			if err := s.Remove(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			again := submit(t, s, jobs.Spec{})
			if again <= first {
				t.Errorf("job %d after job %d", again, first)
			}
			first = again
		}
	})
}
