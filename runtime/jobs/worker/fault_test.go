package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/testdata/jobstest"
)

// Jobs that run according to the database and on no worker in truth do so again,
// whatever the clock of the database shows.
func TestFetchedAndForgotten(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		t.Parallel()
		run(t, store, options(t.TempDir(), "here", slog.DiscardHandler))
		var here string
		for began := time.Now(); here == "" && time.Since(began) < patience; time.Sleep(20 * time.Millisecond) {
			if list, err := store.Workers(t.Context(), false); err == nil && len(list) > 0 {
				here = list[0].ID
			}
		}
		change(t, store, `insert into tr_worker (id, name, host, pid, queues, slots, started_at, lease_until) values ('gone', 'gone', '', 1, 'gone', 1, 0, `+store.Now+` + 3600000)`)
		forgotten, ahead := submit(t, store, jobs.Spec{Script: "exit", In: time.Hour}, "0"), submit(t, store, jobs.Spec{Script: "exit", In: time.Hour}, "0")
		fetched(t, store, forgotten, here) // the answer to the worker was lost
		fetched(t, store, ahead, "gone")   // the clock was set back
		for _, id := range []int64{forgotten, ahead} {
			if job := ended(t, store, id); job.State != jobs.Done {
				t.Errorf("%+v", job)
			}
		}
	})
}

// fetched notes that a worker has fetched a job.
func fetched(t *testing.T, store *jobs.Store, id int64, worker string) {
	t.Helper()
	by := `'["` + worker + `"]'`
	if store.Postgres {
		by = "array['" + worker + "']"
	}
	change(t, store, fmt.Sprintf("update river_job set state = 'running', attempt = 1, attempted_at = current_timestamp, attempted_by = %s where id = %d", by, id))
}

func change(t *testing.T, store *jobs.Store, statements ...string) {
	t.Helper()
	err := store.Tx(t.Context(), func(tx *jobs.Tx) error {
		for _, each := range statements {
			if _, err := tx.ExecContext(t.Context(), each); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a process says last is noted, whatever bytes it has.
func TestMessageOfAnyBytes(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		t.Parallel()
		run(t, store, options(t.TempDir(), "here", slog.DiscardHandler))
		var ids []int64
		for _, kind := range []string{"bytes", "long"} {
			ids = append(ids, submit(t, store, jobs.Spec{Script: "noise"}, kind))
		}
		for _, id := range ids {
			job := ended(t, store, id)
			if job.State != jobs.Failed || !utf8.ValidString(job.Message) || strings.ContainsAny(job.Message, "\x00\x1b") || len(job.Message) < 5 || len(job.Message) > 1010 {
				t.Errorf("%s %q", job.State, job.Message)
			}
		}
	})
}

// A job whose script is no longer there fails, and does not wait for it.
func TestScriptThatIsGone(t *testing.T) {
	t.Parallel()
	store := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	run(t, store, options(t.TempDir(), "here", slog.DiscardHandler))
	id := submit(t, store, jobs.Spec{Script: "exit", Bundle: "0123456789abcdef"}, "0")
	if job := ended(t, store, id); job.State != jobs.Failed || !strings.Contains(job.Message, "0123456789ab is no longer stored") {
		t.Errorf("%+v", job)
	}
}

// What earlier attempts left is not mistaken for that of a new one.
func TestAfterEarlierAttempts(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		t.Parallel()
		before := func(id int64, ago time.Duration, outcome string) string {
			end := "null"
			if outcome != "" {
				end = fmt.Sprintf("%s - %d", store.Now, ago.Milliseconds())
			}
			return fmt.Sprintf("insert into tr_run (job_id, attempt, epoch, worker_id, worker, started_at, ended_at, outcome) values (%d, 1, 0, 'x', 'x', 1, %s, '%s')", id, end, outcome)
		}
		lately, once, unanswered := submit(t, store, jobs.Spec{Script: "taken"}), submit(t, store, jobs.Spec{Script: "taken"}), submit(t, store, jobs.Spec{Script: "taken"})
		change(t, store,
			before(lately, time.Minute, "lost"), before(lately, time.Minute/2, "released"),
			before(once, time.Hour, "lost"), "insert into tr_result (job_id, epoch, value) values ("+fmt.Sprint(once)+", 0, 'null')",
			before(unanswered, 0, "")) // it was begun, and the answer was lost
		run(t, store, options(t.TempDir(), "here", slog.DiscardHandler))
		for id, want := range map[int64][]string{lately: {"lost", "released", "done"}, once: {"lost", "done"}, unanswered: {"done"}} {
			job := ended(t, store, id)
			if got := attempts(t, store, id); job.State != jobs.Done || !slices.Equal(got, want) {
				t.Errorf("%s, attempts %v, want %v", job.State, got, want)
			}
			if got, want := strings.TrimSpace(output(t, store, id)), fmt.Sprint("taken over: ", id == lately); got != want {
				t.Errorf("the attempt %v: %q, want %q", want, got, want)
			}
		}
		if result, err := store.Result(context.Background(), once); err != nil || result != nil {
			t.Errorf("the result of an earlier attempt is there: %s %v", result, err)
		}
	})
}

// Each of two workers of one name is a worker of its own.
func TestTwoOfOneName(t *testing.T) {
	t.Parallel()
	store := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	dir, work := t.TempDir(), t.TempDir()
	o := options(dir, "twin", slog.DiscardHandler)
	o.Slots = 1
	first := run(t, store, o)
	a := submit(t, store, jobs.Spec{Script: "effects", Settings: setting.Settings{Queue: "twin"}}, work)
	become(t, store, a, func(j *jobs.Job) bool { return j.State == jobs.Running })
	run(t, store, o)
	b := submit(t, store, jobs.Spec{Script: "effects", Settings: setting.Settings{Queue: "twin"}}, work)
	become(t, store, b, func(j *jobs.Job) bool { return j.State == jobs.Running })
	touch(t, work, "finish")
	first.stop()
	for _, id := range []int64{a, b} {
		if job := ended(t, store, id); job.State != jobs.Done || job.Tries != 0 {
			t.Errorf("%+v", job)
		}
	}
}
