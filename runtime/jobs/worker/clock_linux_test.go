package worker_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/testdata/jobstest"
)

// settableClock gives a database a clock that can be set: its functions stand before
// those of the server in the search path.
func settableClock(t *testing.T, address string) {
	t.Helper()
	store := jobstest.Open(t, jobs.Config{URL: address + "&search_path=public"})
	_, name, _ := strings.Cut(address, "@/")
	name, _, _ = strings.Cut(name, "?")
	change(t, store, "create schema skew", "create table skew.clock (by interval not null)", "insert into skew.clock values ('0')",
		"create function skew.clock_timestamp() returns timestamptz language sql volatile as 'select pg_catalog.clock_timestamp() + by from skew.clock'",
		"create function skew.now() returns timestamptz language sql stable as 'select pg_catalog.now() + by from skew.clock'",
		"drop schema public cascade", "create schema public",
		"alter database "+name+" set search_path = public, skew, pg_catalog")
}

// Clocks that differ by minutes, and one that is set while jobs run, cost no attempt
// and keep no dead worker alive.
func TestClockOfTheDatabaseIsSet(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what takes seconds")
	}
	t.Parallel()
	c := jobs.Config{URL: jobstest.Database(t), StateDir: t.TempDir()}
	settableClock(t, c.URL)
	store := jobstest.Open(t, c)
	set := func(by string) { change(t, store, "update skew.clock set by = '"+by+"'") }
	shows := func() time.Duration {
		var ms int64
		if err := store.DB().QueryRow("select " + store.Now).Scan(&ms); err != nil {
			t.Fatal(err)
		}
		return time.Until(time.UnixMilli(ms))
	}
	set("5 minutes")
	if by := shows(); by < 4*time.Minute {
		t.Fatal("the clock is not set", by)
	}
	victim, _ := process(t, c, "victim,q")
	work := t.TempDir()
	long := submit(t, store, jobs.Spec{Script: "effects", Settings: setting.Settings{Queue: "q"}}, work)
	waitFor(t, func() bool { return len(readEffects(t, work)) > 0 })
	process(t, c, "heir,q")
	soon := func(what string) {
		t.Helper()
		dir := t.TempDir()
		at := submit(t, store, jobs.Spec{Script: "once", In: 300 * time.Millisecond, Settings: setting.Settings{Queue: "q", Retries: 1}}, dir+"/tried")
		if job := ended(t, store, at); job.State != jobs.Done || job.Tries != 1 || job.Ended.Sub(job.Submitted) > time.Minute {
			t.Errorf("%s: %+v", what, job)
		}
	}
	soon("a clock ahead")
	for _, by := range []string{"-5 minutes", "20 minutes"} {
		set(by)
		time.Sleep(quick.Lease + 2*quick.Beat) // dead workers would have been found
		soon("a clock set by " + by)
		if list, err := store.Workers(t.Context(), false); err != nil || len(list) != 2 || list[0].Silent.Abs() > time.Minute {
			t.Errorf("a clock set by %s: %+v, %v", by, list, err)
		}
		if list := attempts(t, store, long); !slices.Equal(list, []string{"running"}) {
			t.Fatalf("a clock set by %s: attempts %v", by, list)
		}
	}
	set("-1 hour")
	_ = victim.Process.Kill()
	waitFor(t, func() bool { return len(attempts(t, store, long)) == 2 })
	touch(t, work, "finish")
	if job := ended(t, store, long); job.State != jobs.Done || !slices.Equal(attempts(t, store, long), []string{"lost", "done"}) {
		t.Errorf("%+v, attempts %v", job, attempts(t, store, long))
	}
}
