package schedule

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/timetable"
	"transect/testdata/jobstest"
)

// bench is a store with one schedule, and a clock that the test sets.
type bench struct {
	testing.TB
	store *jobs.Store
	r     *runner
}

// newBench adds the schedule hourly in UTC, changed by edit.
func newBench(t testing.TB, store *jobs.Store, edit func(*Schedule)) *bench {
	t.Helper()
	s := &Schedule{Name: "hourly", Rule: timetable.Rule{Expr: "@hourly", Zone: "UTC"}, Spec: jobs.Spec{Script: "survey.lua", Args: []string{"--day={slot_date}"}}}
	if edit != nil {
		edit(s)
	}
	b := &bench{t, store, newRunner(store, Options{Warn: func(text string) { t.Error(text) }}, 0)}
	if err := Add(t.Context(), store, s, false); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) get() *Schedule {
	b.Helper()
	s, err := Get(b.Context(), b.store, "hourly")
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// at stops the clock at a time and lets a scheduler look.
func (b *bench) at(when time.Time) {
	b.Helper()
	b.r.clock = fmt.Sprintf("cast(%d as bigint)", when.UnixMilli())
	b.r.watchFrom = time.Time{}
	if _, err := b.r.pass(b.Context(), b.Context()); err != nil {
		b.Fatal(err)
	}
}

// history is the slots after start, oldest first: hours after it, how, state, job.
func (b *bench) history(start time.Time) string {
	b.Helper()
	list, err := History(b.Context(), b.store, "hourly", 1000)
	if err != nil {
		b.Fatal(err)
	}
	var words []string
	for i := len(list) - 1; i >= 0; i-- {
		f := list[i]
		text := fmt.Sprintf("%g %s %s", f.Due.Sub(start).Hours(), f.How, f.State)
		if f.Slots > 1 {
			text += fmt.Sprintf(" %d to %g", f.Slots, f.Last.Sub(start).Hours())
		}
		if f.Outcome != "" {
			text += " " + f.Outcome
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}

// end ends the newest job of the schedule.
func (b *bench) end(outcome jobs.State, code int) int64 {
	b.Helper()
	list, err := b.store.List(b.Context(), jobs.Filter{Schedule: "hourly", Limit: 1})
	if err != nil || len(list) == 0 {
		b.Fatal("no job", err)
	}
	finish(b, b.store, list[0].ID, outcome, code)
	return list[0].ID
}

// finish lets a job end as its worker would.
func finish(t testing.TB, store *jobs.Store, id int64, outcome jobs.State, code int) {
	t.Helper()
	state := "discarded"
	if outcome == jobs.Done {
		state = "completed"
	}
	err := store.Tx(t.Context(), func(tx *jobs.Tx) error {
		if _, err := tx.Exec("update river_job set state = '"+state+"', finalized_at = current_timestamp where id = $1", id); err != nil {
			return err
		}
		_, err := tx.Exec("update tr_job set outcome = $2, exit_code = $3, message = 'boom', started_at = "+store.Now+", ended_at = "+store.Now+" where job_id = $1", id, string(outcome), code)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) want(start time.Time, want string) {
	b.Helper()
	if got := b.history(start); got != want {
		b.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFire(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		b := newBench(t, store, func(s *Schedule) { s.Zone = "Asia/Kathmandu"; s.Expr = "45 0 * * *" })
		first := b.get().Next
		b.at(first.Add(-time.Second))
		b.want(first, "")
		b.at(first)
		b.at(first.Add(time.Minute))
		b.want(first, "0 slot active waiting")
		list, err := store.List(t.Context(), jobs.Filter{})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		zone, _ := time.LoadLocation("Asia/Kathmandu")
		if j := list[0]; j.Schedule != "hourly" || j.Slot != first.UnixMilli() || j.Args[0] != "--day="+first.In(zone).Format(time.DateOnly) || j.Key != "schedule:hourly" {
			t.Errorf("%+v", j)
		}
		if next := b.get().Next; next.Sub(first) != 24*time.Hour {
			t.Errorf("the next slot is %s", next)
		}
		b.end(jobs.DoneFailures, 3)
		b.at(first.Add(2 * time.Minute))
		b.want(first, "0 slot ended done with failures")
	})
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		for _, c := range []struct{ overlap, during, after, later string }{
			{timetable.Skip, "0 slot active waiting, 1 skipped left out, 2 skipped left out", "0 slot ended done, 1 skipped left out, 2 skipped left out", "0 slot ended done, 1 skipped left out, 2 skipped left out, 3 slot active waiting"},
			{timetable.Queue, "0 slot active waiting, 1 slot waiting, 2 slot waiting", "0 slot ended done, 1 slot active waiting, 2 slot waiting", "0 slot ended done, 1 slot active waiting, 2 slot waiting, 3 slot waiting"},
		} {
			b := newBench(t, store, func(s *Schedule) { s.Overlap = c.overlap })
			first := b.get().Next
			for hour := range 3 {
				b.at(first.Add(time.Duration(hour) * time.Hour))
			}
			b.want(first, c.during)
			b.end(jobs.Done, 0)
			b.at(first.Add(2*time.Hour + time.Second))
			b.want(first, c.after)
			b.at(first.Add(3 * time.Hour))
			b.want(first, c.later)
			if err := Remove(t.Context(), store, "hourly"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestOverlapCancels(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		b := newBench(t, store, func(s *Schedule) { s.Overlap = timetable.Cancel })
		first := b.get().Next
		b.at(first)
		if _, err := store.DB().Exec("update river_job set state = 'running'"); err != nil {
			t.Fatal(err)
		}
		b.at(first.Add(time.Hour))
		b.at(first.Add(2 * time.Hour)) // the worker has not yet stopped the job
		b.want(first, "0 slot active running, 1 replaced left out, 2 slot waiting")
		list, err := store.List(t.Context(), jobs.Filter{})
		if err != nil || len(list) != 1 || !list[0].Cancelled {
			t.Fatal(list, err)
		}
		finish(t, store, list[0].ID, jobs.Failed, 143)
		if _, err := store.DB().Exec("update river_job set state = 'cancelled'"); err != nil {
			t.Fatal(err)
		}
		b.at(first.Add(2*time.Hour + time.Second))
		b.want(first, "0 slot ended cancelled, 1 replaced left out, 2 slot active waiting")
		b.at(first.Add(3 * time.Hour)) // the job waits for a worker
		b.want(first, "0 slot ended cancelled, 1 replaced left out, 2 slot active cancelled, 3 slot waiting")
	})
}

func TestCatchUp(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		for _, c := range []struct{ catchUp, want string }{
			{timetable.None, "0 missed left out 3 to 2"}, {timetable.Last, "0 missed left out 2 to 1, 2 caught up active waiting"},
			{timetable.All, "0 caught up active waiting, 1 caught up waiting, 2 caught up waiting"},
		} {
			b := newBench(t, store, func(s *Schedule) { s.CatchUp = c.catchUp })
			first := b.get().Next
			b.at(first.Add(2*time.Hour + 30*time.Minute))
			b.want(first, c.want)
			if c.catchUp == timetable.All { // what is caught up is not left out
				b.end(jobs.Done, 0)
				b.at(first.Add(3 * time.Hour))
				b.want(first, "0 caught up ended done, 1 caught up active waiting, 2 caught up waiting, 3 slot waiting")
			}
			if err := Remove(t.Context(), store, "hourly"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestPauseRunBackfill(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		b := newBench(t, store, nil)
		first := b.get().Next
		if s, err := Set(t.Context(), store, "hourly", true); err != nil || !s.Paused {
			t.Fatal(s, err)
		}
		b.at(first.Add(time.Hour))
		b.want(first, "")
		job, behind, err := RunNow(t.Context(), store, "hourly")
		if err != nil || job == 0 || behind != 0 {
			t.Fatal(job, behind, err)
		}
		if waits, behind, err := RunNow(t.Context(), store, "hourly"); err != nil || waits != 0 || behind != job {
			t.Fatal(waits, behind, err)
		}
		b.end(jobs.Done, 0)
		b.at(first.Add(time.Hour))
		if list, _ := store.List(t.Context(), jobs.Filter{}); len(list) != 2 {
			t.Fatal("what was asked for did not run: the schedule is paused")
		}
		b.end(jobs.Done, 0)
		if s, err := Set(t.Context(), store, "hourly", false); err != nil || s.Paused || !s.Next.Equal(first) {
			t.Fatal(s, err)
		}
		from := first.Add(-3 * time.Hour)
		slots, before, err := Backfill(t.Context(), store, "hourly", from, time.Time{}, true)
		if err != nil || len(slots) != 3 || before != 0 {
			t.Fatal(slots, before, err)
		}
		if slots, _, err = Backfill(t.Context(), store, "hourly", from, time.Time{}, false); err != nil || len(slots) != 3 {
			t.Fatal(slots, err)
		}
		if slots, before, err = Backfill(t.Context(), store, "hourly", from.Add(-time.Hour), first.Add(-time.Hour), false); err != nil || len(slots) != 1 || before != 2 {
			t.Fatal(slots, before, err)
		}
		b.at(first) // goes before the rest of them
		for range 5 {
			b.end(jobs.Done, 0)
			b.at(first.Add(time.Second))
		}
		list, err := store.List(t.Context(), jobs.Filter{})
		if err != nil || len(list) != 7 {
			t.Fatal(len(list), err)
		}
		var order []float64
		for i := 4; i >= 0; i-- {
			order = append(order, time.UnixMilli(list[i].Slot).Sub(first).Hours())
		}
		if fmt.Sprint(order) != "[-3 0 -4 -2 -1]" {
			t.Errorf("the slots were fired in the order %v", order)
		}
		if _, _, err := Backfill(t.Context(), store, "hourly", from.AddDate(-1, 0, 0), time.Time{}, false); err == nil || !strings.Contains(err.Error(), "more than 1000 slots") {
			t.Error(err)
		}
	})
}

// Slots that were overdue when a schedule was paused are not lost.
func TestPauseWithOverdueSlots(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		b := newBench(t, store, func(s *Schedule) { // the newest slot is half an hour late, whenever the test runs
			s.Expr = fmt.Sprintf("%d * * * *", time.Now().Add(30*time.Minute).Minute())
		})
		first := b.get().Next.Add(-3 * time.Hour)
		if err := store.Tx(t.Context(), func(tx *jobs.Tx) error {
			_, err := tx.ExecContext(t.Context(), "update tr_schedule set next_at = $1", jobs.Millis(first))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := Set(t.Context(), store, "hourly", true); err != nil {
			t.Fatal(err)
		}
		b.want(first, "0 missed left out 2 to 1, 2 caught up waiting")
		if _, err := Set(t.Context(), store, "hourly", false); err != nil {
			t.Fatal(err)
		}
		b.at(first.Add(150 * time.Minute))
		b.want(first, "0 missed left out 2 to 1, 2 caught up active waiting")
	})
}

// Some of the slots that were missed in a row are filled in.
func TestBackfillOfMissed(t *testing.T) {
	t.Parallel()
	store := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	b := newBench(t, store, func(s *Schedule) { s.CatchUp = timetable.None })
	old := b.get().Next.Add(-10 * time.Hour)
	if _, err := store.DB().Exec("update tr_schedule set next_at = $1", old.UnixMilli()); err != nil {
		t.Fatal(err)
	}
	b.at(old.Add(9*time.Hour + 30*time.Minute))
	b.want(old, "0 missed left out 10 to 9")
	slots, before, err := Backfill(t.Context(), store, "hourly", old, old.Add(2*time.Hour), false)
	if err != nil || len(slots) != 2 || before != 0 {
		t.Fatal(slots, before, err)
	}
	b.want(old, "0 backfill active waiting, 1 backfill waiting, 2 missed left out 8 to 9")
}

func TestEdit(t *testing.T) {
	t.Parallel()
	store := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	b := newBench(t, store, nil)
	b.at(b.get().Next.Add(-time.Hour))
	before := b.get()
	if _, err := store.DB().Exec("update tr_schedule set next_at = next_at - 7200000"); err != nil {
		t.Fatal(err)
	}
	s, err := Edit(t.Context(), store, "hourly", func(s *Schedule) error { s.Spec.Args = []string{"b"}; return nil })
	if err != nil || !s.Next.Equal(before.Next.Add(-2*time.Hour)) || s.Spec.Args[0] != "b" {
		t.Errorf("the overdue slot is lost: %+v, %v", s, err)
	}
	if s, err = Edit(t.Context(), store, "hourly", func(s *Schedule) error { s.Expr = "30 * * * *"; return nil }); err != nil || s.Next.Before(time.Now()) || s.Next.Minute() != 30 {
		t.Errorf("%+v, %v", s, err)
	}
	for what, change := range map[string]func(*Schedule){"invalid cron expression": func(s *Schedule) { s.Expr = "61 * * * *" }, "is not a time zone": func(s *Schedule) { s.Zone = "Mars" },
		"@reboot is not possible": func(s *Schedule) { s.Expr = "@reboot" }} {
		if _, err := Edit(t.Context(), store, "hourly", func(s *Schedule) error { change(s); return nil }); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := Get(t.Context(), store, "hourli"); err == nil || !strings.Contains(err.Error(), "there is no schedule hourli") {
		t.Error(err)
	}
	if err := Add(t.Context(), store, s, false); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Error(err)
	}
}

// A schedule that cannot be fired does not keep the others from it.
func TestBrokenSchedule(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		b := newBench(t, store, nil)
		if err := Add(t.Context(), store, &Schedule{Name: "broken", Rule: timetable.Rule{Expr: "@hourly", Zone: "UTC"}, Spec: jobs.Spec{Script: "x.lua"}}, false); err != nil {
			t.Fatal(err)
		}
		if _, err := store.DB().Exec("update tr_schedule set spec = '{}' where name = 'broken'"); err != nil { // no script
			t.Fatal(err)
		}
		var warned []string
		b.r.Warn = func(text string) { warned = append(warned, text) }
		first := b.get().Next
		b.at(first)
		b.at(first.Add(time.Second))
		b.want(first, "0 slot active waiting")
		if len(warned) != 1 || !strings.Contains(warned[0], "the schedule broken was not fired: no script was named") {
			t.Errorf("%q", warned)
		}
	})
}

// A process that is stopped in the middle of a transaction does not keep others
// from its schedule for long.
func TestStoppedInATransaction(t *testing.T) {
	t.Parallel()
	c := jobs.Config{URL: jobstest.Database(t) + "&idle_in_transaction_session_timeout=300"}
	store, stopped := jobstest.Open(t, c), jobstest.Open(t, c)
	b := newBench(t, store, nil)
	first := b.get().Next
	tx, err := stopped.DB().BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := locked(t.Context(), stopped, &jobs.Tx{Tx: tx}, "hourly"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); b.history(first) == "" && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		b.at(first)
	}
	b.want(first, "0 slot active waiting")
	if err := tx.Commit(); err == nil {
		t.Error("the transaction of the stopped process was committed")
	}
}

// Two runs by hand within one millisecond are two slots, the second behind the first.
func TestRunNowTwiceAtOnce(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		for range 20 {
			newBench(t, store, nil)
			job, _, err := RunNow(t.Context(), store, "hourly")
			if err != nil {
				t.Fatal(err)
			}
			if waits, behind, err := RunNow(t.Context(), store, "hourly"); err != nil || waits != 0 || behind != job {
				t.Fatalf("job %d, behind %d, %v; want 0, behind %d", waits, behind, err, job)
			}
			if err := Remove(t.Context(), store, "hourly"); err != nil {
				t.Fatal(err)
			}
		}
	})
}
