package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/bundle"
	"transect/runtime/jobs/schedule"
	"transect/runtime/jobs/setting"
	"transect/runtime/timetable"
	"transect/testdata/jobstest"
)

// Each role can do its work, and no more.
func TestRoles(t *testing.T) {
	t.Parallel()
	address := jobstest.Database(t)
	owner := jobstest.Open(t, jobs.Config{URL: address})
	for range 2 { // it may be run again
		if _, err := owner.DB().Exec(jobs.Roles); err != nil {
			t.Fatal(err)
		}
	}
	as := func(role string) *jobs.Store {
		exec(t, owner, "create role "+role+"_1 login", "grant transect_"+role+" to "+role+"_1")
		t.Cleanup(func() { _, _ = owner.DB().Exec("drop role " + role + "_1") })
		return jobstest.Open(t, jobs.Config{URL: strings.Replace(address, "postgres@", role+"_1@", 1)})
	}
	viewer, submitter, worker := as("viewer"), as("submitter"), as("worker")
	ctx := t.Context()
	allowed := func(who string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", who, err)
		}
	}
	refused := func(s *jobs.Store, statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := s.DB().Exec(statement); err == nil || !strings.Contains(err.Error(), "(SQLSTATE 42501)") {
				t.Errorf("%s: %v", statement, err)
			}
		}
	}

	_, err := submitter.PutBundle(ctx, &bundle.Bundle{Hash: "h", Content: []byte("x")})
	allowed("submitter", err)
	_, err = submitter.PutBundle(ctx, &bundle.Bundle{Hash: "h", Content: []byte("x")})
	allowed("submitter", err)
	spec := jobs.Spec{Script: "survey.lua", Bundle: "h", Settings: setting.Settings{OnFailure: "env:HOOK"}}
	id, err := submitter.Submit(ctx, spec)
	allowed("submitter", err)
	allowed("submitter", submitter.Cancel(ctx, id))
	allowed("submitter", submitter.Retry(ctx, id))
	allowed("submitter", schedule.Add(ctx, submitter, &schedule.Schedule{Name: "nightly", Rule: timetable.Rule{Expr: "* * * * *", Zone: "UTC"}, Spec: spec}, false))
	_, err = schedule.Edit(ctx, submitter, "nightly", func(s *schedule.Schedule) error { s.Expr = "@daily"; return nil })
	allowed("submitter", err)
	_, _, err = schedule.RunNow(ctx, submitter, "nightly")
	allowed("submitter", err)
	_, _, err = schedule.Backfill(ctx, submitter, "nightly", time.Now().AddDate(0, 0, -3), time.Time{}, false)
	allowed("submitter", err)

	for _, s := range []*jobs.Store{viewer, submitter, worker} {
		_, err = s.List(ctx, jobs.Filter{})
		allowed("reader", err)
		_, err = s.Workers(ctx, true)
		allowed("reader", err)
		_, err = s.Log(ctx, id, jobs.Position{})
		allowed("reader", err)
		_, err = s.Stats(ctx, time.Hour)
		allowed("reader", err)
		_, _, err = schedule.List(ctx, s)
		allowed("reader", err)
		_, err = schedule.History(ctx, s, "nightly", 5)
		allowed("reader", err)
	}

	exec(t, owner, "update tr_schedule set next_at = 1")
	running, stop := context.WithCancel(ctx)
	var warned []string
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		schedule.Run(running, worker, schedule.Options{Warn: func(text string) { warned = append(warned, text) }})
	}()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if s, err := schedule.Get(ctx, worker, "nightly"); err == nil && s.Next.Year() > 1970 {
			break
		}
	}
	stop()
	<-ended
	if len(warned) > 0 {
		t.Errorf("worker: %q", warned)
	}
	allowed("worker", worker.Tx(ctx, func(tx *jobs.Tx) error {
		for _, statement := range []string{"insert into tr_worker (id, name, host, pid, queues, slots, started_at, lease_until) values ('w', 'w', 'h', 1, 'default', 1, 0, 0)",
			fmt.Sprintf("update tr_job set epoch = epoch + 1 where job_id = %d", id), "insert into tr_run (job_id, attempt, epoch, worker_id, worker, started_at) values (1, 1, 1, 'w', 'w', 1)",
			"insert into tr_log (run_id, seq, at, stream, lines) values (1, 1, 1, 'out', 'x')", "insert into tr_ledger (run, at, epoch, bytes) values ('job-1', 0, 1, '')",
			"insert into tr_key (key, job_id) values ('k', 1)", "insert into tr_result (job_id, epoch, value) values (1, 1, '1')", "update river_job set state = 'running'", "delete from tr_worker"} {
			if _, err := tx.Exec(statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	}))
	_, err = worker.Prune(ctx, jobs.DefaultRetention)
	allowed("worker", err)
	_, err = worker.Bundle(ctx, "h")
	allowed("worker", err)
	_, err = worker.Submit(ctx, spec) // for a script
	allowed("worker", err)

	_, err = viewer.Submit(ctx, spec)
	fails(t, err, "permission denied")
	fails(t, viewer.Cancel(ctx, id), "permission denied")
	refused(viewer, "select * from tr_bundle", "select * from tr_ledger", "select * from tr_notice", "select * from tr_watch", "update tr_schedule set paused = 1",
		"delete from tr_log", "create table mine (id int)")
	refused(submitter, "update river_job set args = '{}'", "update tr_job set epoch = 9", "insert into tr_run (job_id, attempt, epoch, worker_id, worker, started_at) values (1, 1, 1, 'w', 'w', 1)",
		"insert into tr_log (run_id, seq, at, stream, lines) values (1, 1, 1, 'out', 'x')", "select * from tr_ledger", "insert into tr_ledger (run, at, epoch, bytes) values ('job-1', 0, 1, '')",
		"update tr_worker set lease_until = 0", "update tr_bundle set content = ''", "delete from river_job", "delete from tr_job", "select * from tr_notice", "update tr_result set value = ''")
	refused(worker, "update tr_schedule set spec = '{}'", "insert into tr_schedule (name, cron, zone, spec, catch_up, overlap) values ('x', '', '', '', '', '')", "drop table tr_job", "update tr_migration set version = 9")
}
