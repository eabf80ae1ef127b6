// Package worker runs the jobs of a database (runtime/jobs) on this machine.
//
// River keeps the queue; this package runs the jobs. A worker holds a lease (lease.go), renewed every few
// seconds. A worker that does not renew it is dead for the others, each of which looks for jobs of dead
// workers (reap.go). A session (session.go) is the period of one lease: when it is lost, all its processes
// are killed and the worker begins a new one.
//
// A job is an attempt (attempt.go) in its own process: transect run, in its own process group (process.go),
// linked to the worker (runtime/jobs/link). Each new deadline of the lease is sent over the link; after it
// nothing is sent to the platform, and the group is stopped until the lease is renewed. The outcome of the
// attempt is recorded (finish.go) only while the job's epoch is the attempt's: this fences off a worker that
// slept, in its ledger as well.
//
// fetch.go takes jobs from the queue, log.go stores the output. Begin reading with Run.
package worker

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"transect/client/ledger"
	"transect/runtime/jobs"
	"transect/runtime/sandbox"
)

// Options are the settings of a worker.
type Options struct {
	Name    string         // the queue that only this worker serves
	Queues  []string       // further queues
	Slots   int            // jobs at the same time
	Grace   time.Duration  // how long running jobs may continue after a request to stop
	Sandbox bool           // refuse jobs whose script has no manifest
	Policy  *sandbox.Rules // limits the access of scripts; nil without one
	Version string         // of the program

	Program   []string // runs a job, followed by the arguments of transect run
	Folder    string   // for the scripts and the folders of jobs
	Env       []string // of the processes of jobs
	Secrets   []string // to redact in logs
	Closed    []string // files that scripts may not read unless Policy names them, absolute
	Log       *slog.Logger
	Times     Times
	KillAfter time.Duration                 // how long a terminating process may take; 5 s when 0
	Backoff   func(tries int) time.Duration // before the next try after a temporary failure; nil for the default
	// responses that ledgers need not keep, see jobs.ShortenLedgers; may be nil
	Readable func(op string, r *ledger.Result) bool
	Counters *Counters               // counts what the worker does; may be nil
	Beside   []func(context.Context) // runs until the worker stops, such as the schedules
}

// backoff returns 10 s, 20 s, 40 s … up to 15 minutes, plus jitter.
func backoff(tries int) time.Duration {
	wait := min(10*time.Second<<min(max(tries-1, 0), 10), 15*time.Minute)
	return wait + time.Duration(rand.Int64N(int64(wait/10)))
}

// Worker is a process that runs jobs.
type Worker struct {
	store  *jobs.Store
	o      Options
	queues []string
	bundle atomic.Pointer[packed] // used last
}

// packed is a script with its modules.
type packed struct {
	hash    string
	content []byte
}

// Run runs jobs until ctx ends; then running jobs may continue for the grace period, after which they are
// released. It returns an error only when it cannot start.
func Run(ctx context.Context, store *jobs.Store, o Options) error {
	o.Times, o.KillAfter = cmp.Or(o.Times, DefaultTimes), cmp.Or(o.KillAfter, 5*time.Second)
	if o.Backoff == nil {
		o.Backoff = backoff
	}
	w := &Worker{store: store, o: o}
	for _, q := range append([]string{o.Name}, o.Queues...) {
		if err := jobs.CheckQueue(q); err != nil {
			return err
		}
		if !slices.Contains(w.queues, q) {
			w.queues = append(w.queues, q)
		}
	}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return err
	}
	for {
		err := w.session(ctx)
		if !errors.Is(err, errFenced) {
			return err
		}
		o.Log.Warn(err.Error() + "; it continues with new jobs")
	}
}

// session runs jobs during one lease.
func (w *Worker) session(ctx context.Context) error {
	s := newSession(w)
	if err := s.register(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		s.leave()
		return nil
	}
	return s.work(ctx)
}

// register inserts the worker. It retries while the database does not answer, and replaces what a try with a
// lost response may have inserted.
func (s *session) register(ctx context.Context) error {
	o := s.w.o
	host, _ := os.Hostname() // not all systems have a name
	insert := func(ctx context.Context) (now time.Time, err error) {
		defer o.Counters.beat()
		var ms int64
		err = s.store.Tx(ctx, func(tx *jobs.Tx) error {
			now := s.store.Now
			return tx.QueryRowContext(ctx,
				`insert into tr_worker (id, name, host, pid, queues, slots, version, sandbox, started_at, lease_until)
				values ($1, $2, $3, $4, $5, $6, $7, $8, `+now+`, `+now+` + $9)
				on conflict (id) do update set lease_until = excluded.lease_until where tr_worker.dead_at is null returning `+now,
				s.id, o.Name, host, os.Getpid(), strings.Join(s.w.queues, ","), o.Slots, o.Version, jobs.Bit(o.Sandbox),
				o.Times.Lease.Milliseconds()).Scan(&ms)
		})
		return time.UnixMilli(ms), fenced(err)
	}
	s.lease.renew = insert
	defer func() { s.lease.renew = s.renew }()
	return s.retry(ctx, nil, func(ctx context.Context) error { return s.lease.renewOnce(ctx) })
}

// renew renews the lease once, and looks at the other workers, in one transaction.
func (s *session) renew(ctx context.Context) (time.Time, error) {
	defer s.w.o.Counters.beat()
	var ms int64
	var seen sight
	err := s.store.Tx(ctx, func(tx *jobs.Tx) error {
		err := tx.QueryRowContext(ctx, `update tr_worker set lease_until = `+s.store.Now+
			` + $1 where id = $2 and dead_at is null returning `+s.store.Now,
			s.w.o.Times.Lease.Milliseconds(), s.id).Scan(&ms)
		if err == nil {
			seen, err = s.look(ctx, tx)
		}
		return err
	})
	if err == nil {
		select {
		case s.seen <- seen:
		default: // the last one is being dealt with
		}
	}
	return time.UnixMilli(ms), fenced(err)
}

// fenced converts the error of a statement that changes this worker's row while it is alive.
func fenced(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return errFenced
	}
	return err
}

// leave releases the lease. If that fails, others find the worker dead later.
func (s *session) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), s.w.o.Times.Beat)
	defer cancel()
	_ = s.store.Tx(ctx, func(tx *jobs.Tx) error {
		_, err := tx.ExecContext(ctx, "update tr_worker set dead_at = "+s.store.Now+" where id = $1 and dead_at is null",
			s.id)
		return err
	})
}

// asking limits one database operation: a cut line may stay silent.
func (s *session) asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.w.o.Times.Hold)
}

// retry repeats an operation while the database does not answer, until ctx ends or the lease is lost for
// good. It calls slow, unless it is nil, once the operation takes long, and when it is done then.
func (s *session) retry(ctx context.Context, slow func(since time.Time, why error) string,
	f func(context.Context) error) error {
	began, said := time.Now(), slow == nil
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		asking, cancel := s.asking(ctx)
		err := f(asking)
		cancel()
		if err == nil || errors.Is(err, errFenced) || permanent(err) {
			if said && slow != nil {
				slow(began, nil)
			}
			return err
		}
		if !said && time.Since(began) >= s.w.o.Times.Hold {
			said = true
			slow(began, err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-s.fenced:
			return errFenced
		case <-time.After(wait):
		}
	}
}

// folder returns a folder below the worker's.
func (w *Worker) folder(names ...string) string {
	return filepath.Join(append([]string{w.o.Folder}, names...)...)
}
