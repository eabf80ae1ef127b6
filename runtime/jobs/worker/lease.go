package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"transect/runtime/jobs/link"
	"transect/runtime/unattended/notice"
)

// Times are the time limits of leases. Tests make them shorter.
type Times struct {
	Beat  time.Duration // between two renewals
	Lease time.Duration // a worker that has not renewed for this long is dead for others
	Hold  time.Duration // after this its jobs stop by themselves; less than Lease
	Poll  time.Duration // between two polls for jobs and for jobs to cancel on SQLite
}

// DefaultTimes let others take over the jobs of a dead worker within 20 s.
var DefaultTimes = Times{Beat: 3 * time.Second, Lease: 15 * time.Second, Hold: 12 * time.Second,
	Poll: 250 * time.Millisecond}

// errFenced ends a session: others have taken over the jobs of this worker.
var errFenced = errors.New("the lease of this worker expired and its jobs went to other workers")

// lease is the right of a worker to run its jobs. It is renewed in the database, and expires here earlier
// than there.
type lease struct {
	times Times
	renew func(context.Context) (now time.Time, err error) // the time of the database, or errFenced
	log   *slog.Logger

	mu       sync.Mutex
	deadline time.Duration // by link.Now: when jobs must stop
	steady   time.Duration // by link.Now: since when renewals succeed; 0 while they fail
	warned   bool          // about the clock
	away     bool          // the database does not answer, or cannot write
	changed  func(deadline time.Duration)
}

// renewOnce renews the lease once.
func (l *lease) renewOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.times.Hold)
	defer cancel()
	before, wall := link.Now(), time.Now()
	now, err := l.renew(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(err, errFenced) {
		l.deadline, l.steady = 0, 0
		return err
	}
	if err != nil {
		if l.steady = 0; !l.away && !errors.Is(ctx.Err(), context.Canceled) {
			l.away = true
			l.log.Warn("the database cannot be reached or written; running jobs continue for some seconds, then pause",
				"error", notice.Explain(err))
		}
		return err
	}
	if l.away {
		l.away = false
		l.log.Info("the database is available again")
	}
	if l.steady == 0 || before > l.deadline { // this process, or its machine, may have slept
		l.steady = before
	}
	l.deadline = before + l.times.Hold
	if off := now.Sub(wall.Add((link.Now() - before) / 2)); off.Abs() > 5*time.Second != l.warned {
		if l.warned = !l.warned; l.warned {
			l.log.Warn("the clock of this machine differs from the database's; jobs start by the database's clock", "by",
				off.Round(time.Second))
		}
	}
	if l.changed != nil {
		l.changed(l.deadline)
	}
	return nil
}

// keep renews the lease until the context ends or the lease is lost.
func (l *lease) keep(ctx context.Context) error {
	tick := time.NewTicker(l.times.Beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := l.renewOnce(ctx); errors.Is(err, errFenced) {
			return err
		}
	}
}

// valid reports whether jobs may be fetched and continue.
func (l *lease) valid() bool { return l.left() > 0 }

// left returns how long jobs may continue without another renewal.
func (l *lease) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline - link.Now()
}

// until returns the deadline, by link.Now.
func (l *lease) until() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline
}

// trusted reports whether this worker may declare others dead: its own renewals have succeeded for the
// duration of a lease, so the database was available to the others as well.
func (l *lease) trusted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := link.Now()
	return l.steady != 0 && now < l.deadline && now-l.steady >= l.times.Lease
}
