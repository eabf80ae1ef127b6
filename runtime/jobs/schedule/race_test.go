package schedule

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/runtime/jobs"
	"transect/runtime/timetable"
	"transect/testdata/jobstest"
)

// fast is a clock of the database on which a second takes 100 minutes.
func fast(store *jobs.Store, base int64) string {
	return fmt.Sprintf("(cast(%d as bigint) + (%s - %d) * 6000)", base, store.Now, base)
}

// each minutely schedule of a race.
var racers = []*Schedule{
	{Name: "minutely", Rule: timetable.Rule{Expr: "* * * * *", Zone: "Europe/Paris", CatchUp: timetable.All, Overlap: timetable.Queue}},
	{Name: "third", Rule: timetable.Rule{Expr: "*/3 * * * *", Zone: "Asia/Kathmandu", CatchUp: timetable.All, Overlap: timetable.Queue}},
	{Name: "hourly", Rule: timetable.Rule{Expr: "@hourly", Zone: "UTC", CatchUp: timetable.All, Overlap: timetable.Skip}},
}

// addRacers adds schedules whose first slot is the one after now, and returns
// the time of the database.
func addRacers(t testing.TB, store *jobs.Store) (base int64) {
	t.Helper()
	for _, s := range racers {
		one := *s
		one.Spec = jobs.Spec{Script: "survey.lua"}
		if err := Add(t.Context(), store, &one, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.DB().QueryRow("select " + store.Now).Scan(&base); err != nil {
		t.Fatal(err)
	}
	return base
}

// endJobs ends the jobs that wait, in place of workers.
func endJobs(ctx context.Context, store *jobs.Store) error {
	_, err := store.DB().ExecContext(ctx, "update river_job set state = 'completed', finalized_at = current_timestamp where state = 'available'")
	return err
}

// judge checks that each slot from the first to the last one before the next was
// fired once, and that each has one job.
func judge(t testing.TB, store *jobs.Store, firsts map[string]time.Time) (slots int) {
	t.Helper()
	list, err := store.List(t.Context(), jobs.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	jobsOf := map[string]int{}
	for _, j := range list {
		jobsOf[fmt.Sprint(j.Schedule, j.Slot)]++
	}
	for _, racer := range racers {
		s, err := Get(t.Context(), store, racer.Name)
		if err != nil {
			t.Fatal(err)
		}
		times, err := s.Times()
		if err != nil {
			t.Fatal(err)
		}
		fired, err := History(t.Context(), store, s.Name, 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		known := map[int64]*Fired{}
		for _, f := range fired {
			known[f.Due.UnixMilli()] = f
		}
		for slot := firsts[s.Name]; slot.Before(s.Next); slot = times.Next(slot, 1)[0] {
			f := known[slot.UnixMilli()]
			if f == nil {
				t.Errorf("%s: the slot of %s was lost", s.Name, slot)
				continue
			}
			slots++
			delete(known, slot.UnixMilli())
			want := 1
			if f.State == waiting || f.State == leftOut {
				want = 0
			}
			if n := jobsOf[fmt.Sprint(s.Name, slot.UnixMilli())]; n != want {
				t.Errorf("%s: the slot of %s (%s, %s) has %d jobs", s.Name, slot, f.How, f.State, n)
			}
			delete(jobsOf, fmt.Sprint(s.Name, slot.UnixMilli()))
		}
		if len(known) != 0 {
			t.Errorf("%s: %d slots were fired that there are not", s.Name, len(known))
		}
	}
	if len(jobsOf) != 0 {
		t.Errorf("%d jobs have no slot", len(jobsOf))
	}
	return slots
}

func firsts(t testing.TB, store *jobs.Store) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	for _, racer := range racers {
		s, err := Get(t.Context(), store, racer.Name)
		if err != nil {
			t.Fatal(err)
		}
		all[s.Name] = s.Next
	}
	return all
}

// Schedulers look whenever they like, several at once, and are cut off at any
// moment.
func TestSchedulersTogether(t *testing.T) {
	t.Parallel()
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		stores := []*jobs.Store{jobstest.Open(t, c), jobstest.Open(t, c), jobstest.Open(t, c)}
		checks := 0
		rapid.Check(t, func(rt *rapid.T) {
			if checks++; checks > 8 {
				return // these are slower than others
			}
			store := stores[0]
			for _, table := range []string{"tr_schedule", "tr_fired", "tr_job", "river_job"} {
				if _, err := store.DB().Exec("delete from " + table); err != nil {
					t.Fatal(err)
				}
			}
			base := addRacers(t, store)
			first := firsts(t, store)
			now := base
			for range rapid.IntRange(3, 8).Draw(rt, "looks") {
				now += int64(rapid.IntRange(0, 40*60_000).Draw(rt, "passes"))
				cuts := rapid.SliceOfN(rapid.IntRange(0, 30), 3, 3).Draw(rt, "cuts")
				var all sync.WaitGroup
				for i, store := range stores {
					all.Go(func() {
						r := newRunner(store, Options{}, 0)
						r.clock = fmt.Sprintf("cast(%d as bigint)", now)
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						if cuts[i] < 20 {
							time.AfterFunc(time.Duration(cuts[i])*500*time.Microsecond, cancel)
						}
						if _, err := r.pass(ctx, ctx); err != nil && ctx.Err() == nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				if err := endJobs(t.Context(), store); err != nil {
					t.Fatal(err)
				}
			}
			judge(t, store, first)
		})
	})
}

// TestKilledSchedulers kills processes that fire schedules at any moment.
func TestKilledSchedulers(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it kills processes for seconds")
	}
	t.Parallel()
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		store := jobstest.Open(t, c)
		base := addRacers(t, store)
		first := firsts(t, store)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for range 3 {
					p := launch(t, c, base)
					time.Sleep(time.Duration(rand.N(60)) * time.Millisecond)
					_ = p.Process.Kill()
					_ = p.Wait()
				}
			})
		}
		all.Wait()
		p := launch(t, c, base) // one lives
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			var far int
			if err := store.DB().QueryRow("select count(*) from tr_schedule where next_at > $1", base+(4*time.Hour).Milliseconds()).Scan(&far); err != nil {
				t.Fatal(err)
			}
			if far == len(racers) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("slots are not fired any more")
			}
		}
		_ = p.Process.Kill()
		_ = p.Wait()
		t.Logf("%d slots, 10 kills", judge(t, store, first))
	})
}

// launch starts a scheduler in a process of its own, and waits until it fires.
func launch(t *testing.T, c jobs.Config, base int64) *exec.Cmd {
	p := exec.Command(os.Args[0], "-test.run=^$")
	p.Env = append(os.Environ(), "SCHEDULER_URL="+c.URL, "SCHEDULER_STATE="+c.StateDir, fmt.Sprint("SCHEDULER_BASE=", base))
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Error(err)
		return p
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("%q, %v", line, err)
	}
	go io.Copy(io.Discard, out)
	return p
}

func TestMain(m *testing.M) {
	text, isScheduler := os.LookupEnv("SCHEDULER_BASE")
	if !isScheduler {
		os.Exit(m.Run())
	}
	var base int64
	fmt.Sscan(text, &base)
	ctx := context.Background()
	store, err := jobs.Open(ctx, jobs.Config{URL: os.Getenv("SCHEDULER_URL"), StateDir: os.Getenv("SCHEDULER_STATE")})
	if err != nil {
		panic(err)
	}
	r := newRunner(store, Options{}, 0)
	r.clock = fast(store, base)
	fmt.Println("fires")
	for {
		_, err := r.pass(ctx, ctx)
		if err == nil {
			err = endJobs(ctx, store)
		}
		if err != nil && !errors.Is(err, sql.ErrConnDone) && !strings.Contains(err.Error(), "deadlock") {
			panic(err)
		}
		time.Sleep(time.Millisecond)
	}
}
