package history_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"transect/client/ledger"
	"transect/runtime/unattended/history"
)

// Ledgers of runs that ended well go with the history; unfinished ones stay for 60
// days, also when the history forgets their runs, and are told of a week before.
func TestLedgersAreKept(t *testing.T) {
	s := history.In(t.TempDir())
	now := time.Now()
	begin := func(run string, ended bool, age time.Duration) string {
		t.Helper()
		l, err := ledger.OpenRun(s.Dir, run, ledger.Start{At: now})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Take(ledger.Write{Op: "things.create", Print: ledger.Fingerprint{1}, Since: now}); err != nil {
			t.Fatal(err)
		}
		if ended {
			err = l.End()
		}
		path := filepath.Join(s.Dir, run+ledger.Suffix)
		if failed := l.Close(); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const day = 24 * time.Hour
	id := history.NewID(now.Add(-100 * day))
	e, err := s.Begin(&history.Summary{ID: id, State: history.Ended, Script: "x.lua", Started: now.Add(-100 * day)})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.End(&history.Summary{ID: id, State: history.Ended, Script: "x.lua", Started: now.Add(-100 * day)}); err != nil {
		t.Fatal(err)
	}
	stays := map[string]bool{
		begin(id, false, 2*day):         true, // the history forgets the run
		begin("fresh", true, time.Hour): true,
		begin("done", true, 2*day):      false,
		begin("open", false, 50*day):    true,
		begin("fading", false, 55*day):  true,
		begin("old", false, 61*day):     false,
	}
	if n, err := s.Prune(0, now); n != 1 || err != nil {
		t.Errorf("%d runs pruned: %v", n, err)
	}
	soon, err := s.SweepLedgers(now)
	if err != nil || len(soon) != 1 || soon[0].Run != "fading" || soon[0].Writes != 1 {
		t.Errorf("told: %+v, %v", soon, err)
	}
	for path, want := range stays {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %t", filepath.Base(path), err == nil)
		}
	}
	if soon, _ := s.SweepLedgers(now.Add(time.Hour)); soon != nil {
		t.Error("it was swept twice a day")
	}
}
