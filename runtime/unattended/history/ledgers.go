package history

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"transect/client/ledger"
)

// Retention of ledgers.
const (
	unfinishedAge  = 60 * 24 * time.Hour // of runs that may be resumed, after their last write
	announceBefore = 7 * 24 * time.Hour  // when their removal is announced
	sweepEvery     = 24 * time.Hour
)

// Fading is an unfinished run whose ledger will be removed soon.
type Fading struct {
	Run    string
	Gone   time.Time
	Writes int
}

// SweepLedgers removes, once a day, the ledgers of successful runs that are no longer in the history, and of
// unfinished ones after 60 days. It returns the ones to be removed within a week. From other ledgers of
// successful runs it drops the responses that readable reports as readable again. Unreadable ledgers are left
// alone.
func (s Store) SweepLedgers(now time.Time, readable func(op string, r *ledger.Result) bool) (soon []Fading, err error) {
	stamp := filepath.Join(s.Dir, "ledgers.swept")
	if info, err := os.Stat(stamp); err == nil && now.Sub(info.ModTime()) < sweepEvery {
		return nil, nil
	}
	if err := os.WriteFile(stamp, nil, 0o600); err != nil {
		return nil, err
	}
	if err := os.Chtimes(stamp, now, now); err != nil {
		return nil, err
	}
	names, err := fs.Glob(os.DirFS(s.Dir), "*"+ledger.Suffix)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	seen := map[string]bool{}
	runs, err := s.List(0, nil)
	for _, run := range runs {
		seen[run.RunID()] = true
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		path := filepath.Join(s.Dir, name)
		info, err := os.Stat(path)
		if err != nil || now.Sub(info.ModTime()) < sweepEvery {
			continue
		}
		run := strings.TrimSuffix(name, ledger.Suffix)
		ended, writes, err := s.outlook(run)
		switch gone := info.ModTime().Add(unfinishedAge); {
		case err != nil:
		case ended && !seen[run], !ended && now.After(gone):
			_ = ledger.Remove(s.Dir, run) // one in progress stays
		case ended:
			_ = ledger.Shorten(s.Dir, run, readable) // retried the next day
		case !ended && now.After(gone.Add(-announceBefore)):
			soon = append(soon, Fading{Run: run, Gone: gone, Writes: writes})
		}
	}
	return soon, nil
}

// outlook reports whether the last start of a run succeeded, and how many writes the run has recorded.
func (s Store) outlook(run string) (ended bool, writes int, err error) {
	l, err := ledger.OpenToRead(s.Dir, run)
	if err != nil {
		return false, 0, err
	}
	defer l.Close()
	err = l.All(func(ledger.Intent, *ledger.Result) error { writes++; return nil })
	starts := l.Starts()
	return len(starts) > 0 && starts[len(starts)-1].Ended, writes, err
}
