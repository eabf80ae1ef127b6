package jobs_test

import (
	"context"
	"crypto/sha256"
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

// as is a user of a database with one of the roles.
func as(t *testing.T, owner *jobs.Store, address, user, role string) *jobs.Store {
	exec(t, owner, "create role "+user+" login", "grant transect_"+role+" to "+user)
	t.Cleanup(func() { _, _ = owner.DB().Exec("drop role " + user) })
	return jobstest.Open(t, jobs.Config{URL: strings.Replace(address, "postgres@", user+"@", 1)})
}

func scriptOf(content string) *bundle.Bundle {
	return &bundle.Bundle{Hash: bundle.Hash([]byte(content)), Content: []byte(content)}
}

// Roles belong to the server: databases that are set up at the same time make each of them once.
func TestRolesAtOnce(t *testing.T) {
	t.Parallel()
	owner := jobstest.Open(t, jobs.Config{URL: jobstest.Database(t)})
	_, from, _ := strings.Cut(jobs.Roles, "do $$")
	create, _, found := strings.Cut(from, "end $$;")
	if !found {
		t.Fatal(jobs.Roles)
	}
	create = "do $$" + strings.ReplaceAll(create, "transect_", "atonce_") + "end $$;"
	first, err := owner.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Rollback() }()
	if _, err := first.Exec(create); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		_, err := owner.DB().Exec(create) // sees none of the first, and waits for it
		second <- err
	}()
	for waits := 0; waits == 0; time.Sleep(10 * time.Millisecond) {
		err := owner.DB().QueryRow("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%atonce_%'").Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-second:
			t.Fatal("the second did not wait", err)
		default:
		}
	}
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
	exec(t, owner, "drop role atonce_viewer, atonce_submitter, atonce_worker")
}

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
	viewer, submitter, worker := as(t, owner, address, "viewer_1", "viewer"), as(t, owner, address, "submitter_1", "submitter"), as(t, owner, address, "worker_1", "worker")
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

	hash, err := submitter.PutBundle(ctx, scriptOf("x"))
	allowed("submitter", err)
	_, err = submitter.PutBundle(ctx, scriptOf("x"))
	allowed("submitter", err)
	spec := jobs.Spec{Script: "survey.lua", Bundle: hash, Settings: setting.Settings{OnFailure: "env:HOOK"}}
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
	_, err = worker.Bundle(ctx, hash)
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

// Submitters can neither change what another one submitted, nor pass for him, nor see
// whom his notices go to.
func TestSubmittersApart(t *testing.T) {
	t.Parallel()
	address := jobstest.Database(t)
	owner := jobstest.Open(t, jobs.Config{URL: address})
	ctx := t.Context()
	fine := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// One job and one schedule are of an earlier version, when addresses stood with them.
	before := jobs.Spec{Script: "before.lua"}
	_, err := owner.Submit(ctx, before)
	fine(err)
	rule := timetable.Rule{Expr: "@daily", Zone: "UTC"}
	fine(schedule.Add(ctx, owner, &schedule.Schedule{Name: "before", Rule: rule, Spec: before}, false))
	exec(t, owner, `update river_job set args = args || '{"on_failure": "https://before.example.com/secret"}'`,
		`update tr_schedule set spec = (spec::jsonb || '{"ping": "https://before.example.com/secret"}')::text`, "delete from tr_target")
	exec(t, owner, jobs.Roles)
	alice, mallory, worker := as(t, owner, address, "alice", "submitter"), as(t, owner, address, "mallory", "submitter"), as(t, owner, address, "apart_worker", "worker")
	viewer := as(t, owner, address, "apart_viewer", "viewer")
	if job, err := worker.Get(ctx, 1); err != nil || job.OnFailure != "https://before.example.com/secret" {
		t.Error(job, err)
	}

	script := scriptOf("script of alice")
	hash, err := alice.PutBundle(ctx, script)
	fine(err)
	spec := jobs.Spec{Script: "survey.lua", Bundle: hash, User: "alice@desk", Settings: setting.Settings{OnFailure: "https://hooks.example.com/secret", Ping: "https://ping.example.com/secret"}}
	id, err := alice.SubmitPart(ctx, jobs.Part{Key: "run/1", Spec: spec})
	fine(err)
	fine(schedule.Add(ctx, alice, &schedule.Schedule{Name: "nightly", Rule: rule, Spec: spec}, false))
	job, _, err := schedule.RunNow(ctx, alice, "nightly")
	fine(err)
	var seen []string
	for _, s := range []*jobs.Store{alice, worker, mallory, viewer} {
		job, err := s.Get(ctx, id)
		fine(err)
		nightly, err := schedule.Get(ctx, s, "nightly")
		fine(err)
		if job.OnFailure != nightly.Spec.OnFailure || job.Ping != nightly.Spec.Ping || job.Submitter != "alice" || nightly.Spec.Submitter != "alice" {
			t.Errorf("%+v, %+v", job.Spec, nightly.Spec)
		}
		seen = append(seen, job.OnFailure+" "+job.Ping)
	}
	if all := "https://hooks.example.com/secret https://ping.example.com/secret"; seen[0] != all || seen[1] != all || seen[2] != " " || seen[3] != " " {
		t.Errorf("%q", seen)
	}
	for _, table := range []string{"river_job", "tr_job", "tr_run", "tr_log", "tr_result", "tr_worker", "tr_schedule", "tr_fired", "tr_target", "tr_part", "tr_watch"} {
		rows, err := jobs.Column[string](ctx, mallory.DB(), "select x::text from "+table+" x")
		if fine(err); strings.Contains(strings.Join(rows, "\n"), "secret") {
			t.Errorf("%s: %q", table, rows)
		}
	}

	if parts, err := jobs.Column[string](ctx, mallory.DB(), "select key from tr_part"); err != nil || len(parts) != 0 {
		t.Error(parts, err)
	}

	// The commands say whose it is.
	for _, err := range []error{mallory.Cancel(ctx, id), mallory.Retry(ctx, id), schedule.Remove(ctx, mallory, "nightly"),
		schedule.Add(ctx, mallory, &schedule.Schedule{Name: "nightly", Rule: rule, Spec: jobs.Spec{Script: "x.lua"}}, true)} {
		fails(t, err, "is not yours: alice submitted it")
	}
	_, _, err = schedule.RunNow(ctx, mallory, "nightly")
	fails(t, err, "the schedule nightly is not yours")
	other, err := mallory.SubmitPart(ctx, jobs.Part{Key: "run/1", Spec: jobs.Spec{Script: "x.lua", User: "alice@desk"}})
	fine(err)
	if other == id {
		t.Error("a part of another one was found")
	}
	if job, err := alice.Get(ctx, other); err != nil || job.By() != "mallory (alice@desk)" {
		t.Error(job.By(), err)
	}

	// Statements are refused, or change no row.
	content := func(text string) string {
		return fmt.Sprintf("'%x', '\\x%x', %d", sha256.Sum256([]byte(text)), text, len(text))
	}
	insert := "insert into tr_bundle (hash, content, size) values ("
	for _, statement := range []string{
		insert + strings.Replace(content("what alice submits next"), fmt.Sprintf("%x", "what alice submits next"), fmt.Sprintf("%x", "what mallory wants done"), 1) + ")",
		"update tr_bundle set content = ''", "update tr_bundle set at = 0", "select content from tr_bundle", "delete from tr_bundle",
		fmt.Sprintf("update tr_job set outcome = 'done', exit_code = 0, ended_at = 1 where job_id = %d", id),
		fmt.Sprintf("update river_job set state = 'completed', finalized_at = now() where id = %d", id),
		fmt.Sprintf("select from river_job where id = %d for update", id),
		fmt.Sprintf("update tr_job set submitter = 'mallory' where job_id = %d", id),
		fmt.Sprintf("delete from tr_target where job_id = %d", id),
		fmt.Sprintf("insert into tr_target values (%d, 'x', 'https://mallory.example.com', '')", id),
		"insert into tr_target values (0, 'nightly', 'https://mallory.example.com', '') on conflict (job_id, schedule) do update set on_failure = excluded.on_failure",
		fmt.Sprintf("insert into tr_watch values (%d, 1, 1)", id),
		"insert into tr_target values (1000, '', 'x', 'x')",
		"insert into tr_job (job_id, title, submitter) values (1000, 'x', 'mallory')",
		"insert into tr_job (job_id, title, submitter) values (1000, 'x', 'alice')",
		"insert into river_job (id, args, kind, max_attempts) values (1000, '{}', 'transect', 1)",
		"insert into river_job (args, kind, max_attempts) values ('{}', 'transect', 1); insert into tr_job (job_id, title, submitter) values (currval('river_job_id_seq'), 'x', 'alice')",
		fmt.Sprintf("insert into tr_part values ('alice/run/2', %d)", other), fmt.Sprintf("insert into tr_part values ('mallory/run/2', %d)", id),
		"update tr_schedule set paused = 1 where name = 'nightly'", "delete from tr_schedule where name = 'nightly'", "update tr_schedule set submitter = 'alice' where submitter = 'mallory'",
		"insert into tr_schedule (name, cron, zone, spec, catch_up, overlap, submitter) values ('x', '', '', '{}', '', '', 'alice')",
		"update tr_fired set state = 'ended'", "insert into tr_fired (schedule, due_at, how, state) values ('nightly', 1, 'run', 'waiting')",
		"select * from tr_notice", "set session authorization alice", "set role alice", "alter table tr_job disable row level security",
		"create temporary table tr_job as select 1 as job_id, 'mallory'::text as submitter; update river_job set state = 'completed', finalized_at = now() where id = 1",
	} {
		result, err := mallory.DB().Exec(statement)
		if err == nil {
			if n, _ := result.RowsAffected(); n != 0 {
				t.Errorf("%s: %d rows", statement, n)
			}
		} else if !strings.Contains(err.Error(), "(SQLSTATE 42501)") {
			t.Errorf("%s: %v", statement, err)
		}
		_, _ = mallory.DB().Exec("drop table if exists pg_temp.tr_job")
	}
	// What alice does is as before.
	_, err = alice.PutBundle(ctx, scriptOf("what alice submits next"))
	fine(err)
	if again, err := alice.SubmitPart(ctx, jobs.Part{Key: "run/1", Spec: spec}); err != nil || again != id {
		t.Error(again, err)
	}
	exec(t, worker, fmt.Sprintf("update river_job set state = 'discarded', finalized_at = now() where id = %d", id), fmt.Sprintf("update tr_job set outcome = 'failed', ended_at = 1 where job_id = %d", id), "delete from tr_watch")
	fine(alice.Retry(ctx, id))
	if watched, err := jobs.Column[int64](ctx, worker.DB(), "select job_id from tr_watch"); err != nil || len(watched) != 1 || watched[0] != id {
		t.Error(watched, err)
	}
	fine(alice.Cancel(ctx, job))
	fine(schedule.Remove(ctx, alice, "nightly"))
	fine(worker.Cancel(ctx, id))
	fine(worker.Remove(ctx, id))
	if n, err := jobs.Column[int64](ctx, owner.DB(), "select job_id from tr_target where job_id in (0, "+fmt.Sprint(id)+") and schedule <> 'before'"); err != nil || len(n) != 0 {
		t.Error(n, err)
	}
}
