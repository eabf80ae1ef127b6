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

// Times are those of leases. Tests make them shorter.
type Times struct {
	Beat  time.Duration // between two renewals
	Lease time.Duration // a worker that has not renewed for this long is dead for the others
	Hold  time.Duration // after this its jobs stop by themselves, less than Lease
	Reap  time.Duration // between two looks for dead workers
	Poll  time.Duration // between two looks for jobs where nobody tells, and for jobs to cancel
}

// DefaultTimes take over the jobs of a dead worker within 20 s.
var DefaultTimes = Times{Beat: 3 * time.Second, Lease: 15 * time.Second, Hold: 12 * time.Second,
	Reap: 2 * time.Second, Poll: 250 * time.Millisecond}

// errFenced ends a session: others have taken over the jobs of this worker.
var errFenced = errors.New("the lease of this worker expired and its jobs went to other workers")

// lease is the right of a worker to work on its jobs. It is renewed in the database,
// and passes here earlier than there.
type lease struct {
	times Times
	renew func(context.Context) (now time.Time, err error) // the time of the database; errFenced when it is over
	log   *slog.Logger

	mu       sync.Mutex
	deadline time.Duration // by link.Now: until when jobs may go on
	steady   time.Duration // by link.Now: since when no renewal has failed; 0 while they do
	warned   bool          // about the clock
	away     bool          // the database does not answer, or cannot write
	changed  func(deadline time.Duration)
}

// beat renews the lease once.
func (l *lease) beat(ctx context.Context) error {
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
		if err := l.beat(ctx); errors.Is(err, errFenced) {
			return err
		}
	}
}

// valid reports whether jobs may be fetched and go on.
func (l *lease) valid() bool { return l.left() > 0 }

// left is how long jobs may go on without another renewal.
func (l *lease) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline - link.Now()
}

// until is the deadline, by link.Now.
func (l *lease) until() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline
}

// trusted reports whether this worker may declare others dead: its own renewals
// have succeeded for the time of a lease, so the database was there for the others
// as well.
func (l *lease) trusted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := link.Now()
	return l.steady != 0 && now < l.deadline && now-l.steady >= l.times.Lease
}
