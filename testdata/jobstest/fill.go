package jobstest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"transect/client/ledger"
	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
)

// Some of the jobs that Fill makes.
const (
	parentJob    = 5   // it submitted a tenth of all
	childJob     = 81  // of parentJob; it submitted some itself
	undecidedJob = 100 // with an open write
)

// fillStep is the time between the ends of two jobs; the newest has just ended.
const fillStep = time.Second

// outcomes is the outcome of the job i, "" of one that has not ended.
const outcomes = `case when i in (61, 62) or i % 100 in (41, 42, 51, 71) then '' when i % 100 = 0 then 'needs a decision'
	when i % 10 = 0 then 'failed' when i % 100 = 11 then 'done with failures' when i % 100 = 21 then 'stopped'
	when i % 100 = 31 then 'cancelled' else 'done' end`

// Fill makes n jobs in an empty database, at least 100, with that many lines of output each; workers that are alive,
// stopping, died and left; and the schedules nightly, weekly (overdue) and hourly (paused).
//
// Of a hundred jobs 2 is done with a result, 10 failed as every tenth, 11 done with failures, 21 stopped, 23 of the
// schedule nightly, 31 cancelled, 41 waiting, 42 waiting for the key of 61, 51 scheduled, 71 retrying, and 100 needs a
// decision. Only 61 and 62 are running.
func Fill(t testing.TB, s *jobs.Store, n, lines int) {
	t.Helper()
	now, err := jobs.ReadTime(t.Context(), s.DB(), s.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Tx(t.Context(), func(tx *jobs.Tx) error {
		for _, statement := range fillings(s, now.UnixMilli(), n, lines) {
			if _, err := tx.Exec(statement); err != nil {
				return fmt.Errorf("%.300s: %w", statement, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.OpenRemote(jobs.RunID(undecidedJob), s.Ledger(t.Context(), undecidedJob, 1), ledger.Start{At: now})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Take(ledger.Write{Op: "projects.create", Since: now}); err != nil {
		t.Fatal(err)
	}
	if s.Postgres { // as it does by itself after a while
		if _, err := s.DB().Exec("analyze"); err != nil {
			t.Fatal(err)
		}
	}
}

// fillings are the statements of Fill, at a time in milliseconds.
func fillings(s *jobs.Store, now int64, n, lines int) []string {
	spec := func(change func(*jobs.Spec)) string {
		spec := jobs.Spec{Script: "survey.lua", Args: []string{"flights/2026-11-22/field-7"}, Folder: "/data/season",
			Bundle: strings.Repeat("0", 64), Settings: setting.Defaults()}
		change(&spec)
		text, err := json.Marshal(spec)
		if err != nil {
			panic(err) // of strings and numbers
		}
		return "'" + string(text) + "'"
	}
	plain := spec(func(*jobs.Spec) {})
	fired := spec(func(s *jobs.Spec) { s.Schedule, s.Slot = "nightly", now })
	args := fmt.Sprintf("case when i %% 100 between 80 and 89 then %s when i %% 100 between 12 and 15 then %s "+
		"when i %% 100 between 22 and 30 then %s when i %% 100 in (42, 61) then %s else %s end",
		spec(func(s *jobs.Spec) { s.Parent = parentJob }), spec(func(s *jobs.Spec) { s.Parent = childJob }), fired,
		spec(func(s *jobs.Spec) { s.Key = "field-7" }), plain)
	state := `case when i in (61, 62) then 'running' when outcome = 'cancelled' then 'cancelled'
		when outcome in ('done', 'done with failures') then 'completed' when outcome <> '' then 'discarded'
		when i % 100 = 41 then 'available' when i % 100 = 71 then 'retryable' else 'scheduled' end`
	by, args, bytes := "jsonb('[\"w1\"]')", "jsonb("+args+")", func(text string) string { return "cast('" + text + "' as blob)" }
	if s.Postgres {
		by, args, state = "array['w1']", "cast("+args+" as jsonb)", "cast("+state+" as river_job_state)"
		bytes = func(text string) string { return "convert_to('" + text + "', 'UTF8')" }
	}
	all := fmt.Sprintf(" with recursive n(i) as (select 1 union all select i + 1 from n where i < %d), "+
		"o(i, outcome, at) as (select i, %s, %d - (%d - cast(i as bigint)) * %d from n) ", n, outcomes, now, n, fillStep.Milliseconds())
	exit := "case outcome when 'done' then 0 when 'done with failures' then 3 when 'stopped' then 2 " +
		"when 'needs a decision' then 7 when 'failed' then 1 end"
	message := "case when outcome in ('done', 'cancelled') then '' when outcome = '' and i % 100 <> 71 then '' " +
		"else 'TimeoutError: the platform did not answer within 30 s' end"
	summary := `{"summary":{"id":"job-2","state":"ended","script":"survey.lua","arguments":["flights"],"transect":"1",` +
		`"pid":1,"started":"2026-11-22T02:30:00Z"},"progress":{}}`
	line := "image DJI_20261122143025_0007_V.JPG uploaded: 8.2 MB in 1.4 s, dataset 4711 of field 7, orthomosaic\n"
	return []string{
		"insert into river_job (args, kind, max_attempts, attempt, attempted_by, priority, state, scheduled_at, finalized_at)" +
			all + "select " + args + ", 'transect', 30000, case when i % 100 in (41, 42, 51) then 0 else 1 end, case when " +
			"i in (61, 62) then " + by + " end, 2, " + state + ", case when i % 100 in (42, 51, 71) then " + s.After("3600000") +
			" else current_timestamp end, case when outcome <> '' then current_timestamp end from o order by i",
		"insert into tr_job (job_id, title, key, schedule, bundle, parent, waiting, epoch, tries, exit_code, outcome, message, " +
			"submitted_at, started_at, ended_at)" + all + "select i, 'survey.lua flights/2026-11-22/field-7', " +
			"case when i % 100 in (42, 61) then 'field-7' else '' end, case when i % 100 between 22 and 30 then 'nightly' else '' " +
			"end, '" + strings.Repeat("0", 64) + "', case when i % 100 between 80 and 89 then 5 when i % 100 between 12 and 15 then " +
			"81 else 0 end, case when i % 100 = 42 then 'job 61 with the key field-7' else '' end, " +
			"case when i % 100 in (41, 42, 51) then 0 else 1 end, 1, " + exit + ", outcome, " + message +
			", at - 60000, case when i % 100 in (41, 42, 51) then 0 else at - 5000 end, case when outcome = '' then 0 else at end from o",
		"insert into tr_run (job_id, attempt, epoch, worker_id, worker, started_at, ended_at, exit_code, outcome, record)" + all +
			"select i, 1, 1, 'w1', 'alpha', at - 5000, case when i in (61, 62) then null else at end, case when i % 100 = 71 then 5 " +
			"else " + exit + " end, case when i % 100 = 71 then 'retrying' else outcome end, case when i = 2 then '" + summary +
			"' else '' end from o where i % 100 not in (41, 42, 51) order by i",
		"insert into tr_log (run_id, seq, at, stream, lines) select id, 1, started_at, case when id % 7 = 0 then 'err' else " +
			"'out' end, '" + strings.Repeat(line, lines) + "' from tr_run",
		"insert into tr_result (job_id, epoch, value)" + all + "select i, 1, " + bytes(`{"images":7}`) + " from o where i % 100 in (2, 3)",
		"insert into tr_key (key, job_id) values ('field-7', 61)",
		"insert into tr_part (key, job_id) values ('/job-5/1', 80), ('/job-5/2', 81)",
		fmt.Sprintf("insert into tr_worker (id, name, host, pid, queues, slots, version, sandbox, stopping, started_at, "+
			"lease_until, dead_at) values ('w1', 'alpha', 'one', 1, 'default,alpha', 4, '1', 0, 0, %[1]d - 90000, %[1]d + 3600000, "+
			"null), ('w2', 'beta', 'two', 2, 'ortho,beta', 2, '1', 1, 1, %[1]d - 80000, %[1]d + 3600000, null), ('w3', 'gamma', "+
			"'three', 3, 'default', 2, '1', 0, 0, %[1]d - 70000, %[1]d - 40000, %[1]d - 30000), ('w4', 'delta', 'four', 4, "+
			"'default', 2, '1', 0, 0, %[1]d - 60000, %[1]d - 20000, %[1]d - 30000)", now),
		fmt.Sprintf("insert into tr_schedule (name, cron, zone, spec, catch_up, overlap, late, paused, next_at) values "+
			"('nightly', '30 2 * * *', 'Europe/Paris', %[2]s, 'last', 'skip', 900000, 0, %[1]d + 3600000), ('weekly', '@weekly', "+
			"'UTC', %[2]s, 'all', 'queue', 0, 0, %[1]d - 3600000), ('hourly', '@hourly', 'UTC', %[2]s, 'none', 'cancel', 0, 1, "+
			"%[1]d + 60000)", now, plain),
		"insert into tr_fired (schedule, due_at, at, how, state, job_id, outcome)" + all + "select 'nightly', at, at, case when " +
			"i % 100 = 24 then 'caught up' else 'slot' end, 'ended', i, outcome from o where i % 100 between 22 and 30",
		fmt.Sprintf("insert into tr_fired (schedule, due_at, how, state, slots, last_at) values ('nightly', %[1]d + 1, 'skipped', "+
			"'left out', 1, 0), ('weekly', %[1]d - 9000000, 'missed', 'left out', 3, %[1]d - 8000000), ('weekly', %[1]d - 5000000, "+
			"'slot', 'waiting', 1, 0), ('hourly', %[1]d - 5000000, 'skipped', 'left out', 1, 0)", now),
		"insert into tr_target (job_id, schedule, on_failure, ping) values (0, 'nightly', 'env:OPS', ''), (10, '', 'env:OPS', '')",
		"insert into tr_watch (job_id, starts, late_at) values (51, 0, 0)",
	}
}
