package history_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"transect/client/fault"
	"transect/client/ledger"
	"transect/runtime/unattended/history"
)

// Ledgers of runs that ended well go with the history; unfinished ones stay for 60
// days, also when the history forgets their runs, and are told of a week before.
func TestLedgersAreKept(t *testing.T) {
	s := history.In(filepath.Join(t.TempDir(), "state [1]"))
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
	soon, err := s.SweepLedgers(now, nil)
	if err != nil || len(soon) != 1 || soon[0].Run != "fading" || soon[0].Writes != 1 {
		t.Errorf("told: %+v, %v", soon, err)
	}
	for path, want := range stays {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %t", filepath.Base(path), err == nil)
		}
	}
	if soon, _ := s.SweepLedgers(now.Add(time.Hour), nil); soon != nil {
		t.Error("it was swept twice a day")
	}
}

// A day after its run ended well, a ledger loses the answers that can be read
// again; what was written, its state and its identifiers stay. One whose last
// start did not end, or is in progress, keeps all.
func TestAnswersAreDroppedAfterADay(t *testing.T) {
	s := history.In(filepath.Join(t.TempDir(), "state [1]"))
	now := time.Now()
	readable := func(op string, _ *ledger.Result) bool { return op == "things.create" }
	begin := func(run string) *ledger.Ledger {
		t.Helper()
		l, err := ledger.OpenRun(s.Dir, run, ledger.Start{At: now})
		if err != nil {
			t.Fatal(err)
		}
		for i, op := range []string{"things.create", "things.order"} {
			row, err := l.Take(ledger.Write{Op: op, Print: ledger.Fingerprint{byte(i)}, Since: now})
			if err == nil && row.New {
				err = row.Resolve(ledger.Done, []string{"id"}, [][]byte{[]byte(`{"_id":"id"}`)})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Put("kept", []byte("value")); err != nil {
			t.Fatal(err)
		}
		return l
	}
	end := func(l *ledger.Ledger) {
		t.Helper()
		if err := errors.Join(l.End(), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
	id := history.NewID(now)
	e, err := s.Begin(&history.Summary{ID: id, State: history.Ended, Script: "x.lua", Started: now})
	if err == nil {
		err = e.End(&history.Summary{ID: id, State: history.Ended, Script: "x.lua", Started: now})
	}
	if err != nil {
		t.Fatal(err)
	}
	answers := func(run string) (n int) {
		t.Helper()
		l, err := ledger.OpenToRead(s.Dir, run)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		rows := 0
		err = l.All(func(i ledger.Intent, r *ledger.Result) error {
			if rows++; r == nil || r.State != ledger.Done || len(r.IDs) != 1 || r.IDs[0] != "id" {
				t.Errorf("%s: write %d: %+v", run, i.Seq, r)
			} else {
				n += len(r.Answers)
			}
			return nil
		})
		if err != nil || rows != 2 || string(l.Kept("kept")) != "value" || len(l.Starts()) == 0 {
			t.Errorf("%s: %d writes, %v", run, rows, err)
		}
		return n
	}
	end(begin(id))
	if err := begin("open").Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ after, ended int }{{12, 2}, {37, 1}, {62, 1}} { // hours
		if _, err := s.SweepLedgers(now.Add(time.Duration(c.after)*time.Hour), readable); err != nil {
			t.Fatal(err)
		}
		if a, b := answers(id), answers("open"); a != c.ended || b != 2 {
			t.Errorf("after %d hours: %d answers of the run that ended well, %d of the other", c.after, a, b)
		}
	}
	path := filepath.Join(s.Dir, id+ledger.Suffix)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	l := begin(id) // goes on with it
	if err := ledger.Shorten(s.Dir, id, func(string, *ledger.Result) bool { return true }); !errors.As(err, new(*fault.LockedError)) {
		t.Errorf("one in progress: %v", err)
	}
	end(l)
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "*.short-*")); left != nil {
		t.Error(left)
	}
}
