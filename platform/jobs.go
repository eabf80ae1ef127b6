package platform

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"transect/client/fault"
	"transect/platform/store"
)

// Background jobs. Requests add a row to the table "jobs" in their transaction
// (enqueue); the workers of any process that has the folder open take it, renew
// its lease while they work, and delete the row in the transaction that stores
// the result. A job whose process died is taken again when its lease has passed.

// The kinds of jobs.
const (
	ingestionJob = "ingestion"
	productJob   = "product"
	archiveJob   = "archive"
)

// slots is how many jobs of a kind run at once. Ingestions mostly wait for the disk.
var slots = map[string]int{ingestionJob: 8, productJob: 4, archiveJob: 1}

// maxAttempts is how often a job is begun before it fails: one that takes its
// process down must not do so forever.
const maxAttempts = 10

// errLost means that the job was cancelled, or that its lease passed and another
// process took it.
var errLost = errors.New("the job was cancelled or taken over")

// job is one piece of work that this process leased.
type job struct {
	id, kind string
	attempt  int64 // from 1
}

// workers run the jobs of one process.
type workers struct {
	p       *Platform
	owner   string
	all     sync.WaitGroup
	wakeups map[string]chan struct{} // by kind

	mu      sync.Mutex
	running map[job]context.CancelCauseFunc
}

// enqueue adds a job, or starts it over.
func enqueue(tx *store.Tx, kind, id string) error {
	return tx.Exec(`INSERT INTO jobs (id, kind) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, owner = NULL, lease = 0, attempts = attempts + 1`, id, kind)
}

// startWorkers starts the loops that run jobs until the platform closes.
func (p *Platform) startWorkers() {
	w := &workers{p: p, owner: randomText(), wakeups: map[string]chan struct{}{}, running: map[job]context.CancelCauseFunc{}}
	p.workers = w
	for kind, do := range map[string]func(context.Context, job) error{
		ingestionJob: p.ingest, productJob: p.runProduct, archiveJob: p.archive,
	} {
		wakeup := make(chan struct{}, 1)
		w.wakeups[kind] = wakeup
		w.all.Go(func() { w.loop(kind, wakeup, do) })
	}
	w.all.Go(w.renewLeases)
	w.all.Go(func() { p.blobs.Sweep(time.Now().Add(-24 * time.Hour)) })
}

// wake has the loops look for jobs now.
func (w *workers) wake() {
	for _, c := range w.wakeups {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// loop runs the jobs of one kind.
func (w *workers) loop(kind string, wakeup chan struct{}, do func(context.Context, job) error) {
	closing := w.p.closing
	free := make(chan struct{}, slots[kind])
	for closing.Err() == nil {
		free <- struct{}{}
		j, err := w.lease(closing, kind)
		if err == nil {
			ctx, cancel := context.WithCancelCause(closing)
			w.mu.Lock()
			w.running[j] = cancel
			w.mu.Unlock()
			w.all.Go(func() {
				w.run(ctx, j, do)
				cancel(nil)
				<-free
			})
			continue
		}
		<-free
		if !errors.Is(err, sql.ErrNoRows) && closing.Err() == nil {
			w.p.log.Error("cannot look for jobs", "kind", kind, "error", err)
		}
		select {
		case <-wakeup:
		case <-time.After(w.p.options.Lease / 6): // another process may have added one, or died
		case <-closing.Done():
		}
	}
}

// lease takes the next job of a kind, or fails with sql.ErrNoRows.
func (w *workers) lease(ctx context.Context, kind string) (job, error) {
	now := time.Now()
	j := job{kind: kind}
	const due = "SELECT id FROM jobs WHERE kind = ? AND lease < ? ORDER BY id LIMIT 1"
	// Looking first saves writing transactions while there is nothing to do.
	if err := w.p.store.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(due, kind, now.UnixMilli()).Scan(&j.id)
	}); err != nil {
		return j, err
	}
	err := w.p.store.Write(ctx, func(tx *store.Tx) error {
		return tx.QueryRow("UPDATE jobs SET owner = ?, lease = ?, attempts = attempts + 1 WHERE id = ("+due+") RETURNING id, attempts",
			w.owner, now.Add(w.p.options.Lease).UnixMilli(), kind, now.UnixMilli()).Scan(&j.id, &j.attempt)
	})
	return j, err
}

// run does one job. One that failed is left for another attempt.
func (w *workers) run(ctx context.Context, j job, do func(context.Context, job) error) {
	err := recovered(func() error { return do(ctx, j) })
	w.mu.Lock()
	delete(w.running, j)
	w.mu.Unlock()
	if err == nil || errors.Is(err, errLost) || errors.Is(context.Cause(ctx), errLost) {
		return
	}
	// The next attempt is later, or immediately in another process when this one stops.
	lease, attempts := time.Now().Add(w.p.options.Lease).UnixMilli(), j.attempt
	if w.p.closing.Err() != nil {
		lease, attempts = 0, j.attempt-1
	} else {
		w.p.log.Error("a job failed", "kind", j.kind, "id", j.id, "attempt", j.attempt, "error", err)
	}
	w.p.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.Exec("UPDATE jobs SET owner = NULL, lease = ?, attempts = ? WHERE id = ? AND owner = ? AND attempts = ?",
			lease, attempts, j.id, w.owner, j.attempt)
	})
}

// renewLeases keeps the leases of the running jobs, and stops those that were lost.
func (w *workers) renewLeases() {
	ticks := time.NewTicker(w.p.options.Lease / 3)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
		case <-w.p.closing.Done():
			return
		}
		w.mu.Lock()
		running := make([]job, 0, len(w.running))
		for j := range w.running {
			running = append(running, j)
		}
		w.mu.Unlock()
		if len(running) == 0 {
			continue
		}
		var lost []job
		err := w.p.store.Write(w.p.closing, func(tx *store.Tx) error {
			until := time.Now().Add(w.p.options.Lease).UnixMilli()
			for _, j := range running {
				n, err := tx.Affected("UPDATE jobs SET lease = ? WHERE id = ? AND owner = ? AND attempts = ?", until, j.id, w.owner, j.attempt)
				if err != nil {
					return err
				}
				if n == 0 {
					lost = append(lost, j)
				}
			}
			return nil
		})
		if err != nil && w.p.closing.Err() == nil {
			w.p.log.Error("cannot renew the leases of jobs", "error", err)
		}
		for _, j := range lost {
			w.stop(j.id)
		}
	}
}

// stop cancels a job that is no longer in the table or no longer this process's,
// if it runs here.
func (w *workers) stop(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for j, cancel := range w.running {
		if j.id == id {
			cancel(errLost)
		}
	}
}

// checkLease fails with errLost when a job is no longer this process's. It runs
// in the transaction that stores what the job did, so nothing is stored twice.
func (p *Platform) checkLease(tx *store.Tx, j job) error {
	var leased bool
	err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM jobs WHERE id = ? AND owner = ? AND attempts = ?)",
		j.id, p.workers.owner, j.attempt).Scan(&leased)
	if err == nil && !leased {
		err = errLost
	}
	return err
}

// finishJob removes a job from the table, or fails like checkLease.
func (p *Platform) finishJob(tx *store.Tx, j job) error {
	n, err := tx.Affected("DELETE FROM jobs WHERE id = ? AND owner = ? AND attempts = ?", j.id, p.workers.owner, j.attempt)
	if err == nil && n == 0 {
		err = errLost
	}
	return err
}

// panicError is a panic in a job: a sentence for users, the stack for the log.
type panicError struct {
	cause any
	stack []byte
}

func (e *panicError) Error() string { return "internal error of the local platform; see its log" }

// LogValue is what the log shows.
func (e *panicError) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("panic: %v\n%s", e.cause, e.stack))
}

// recovered runs f and turns a panic into an error.
func recovered(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v, debug.Stack()}
		}
	}()
	return f()
}

// logPanic logs err when it is a panic.
func (p *Platform) logPanic(err error, attributes ...any) {
	if e := (*panicError)(nil); errors.As(err, &e) {
		p.log.Error("a job panicked", append(attributes, "error", e)...)
	}
}

// errorText is how a dataset tells what went wrong with it.
func errorText(err error) string {
	if f := fault.Find(err); f != nil {
		return f.Facts().Message
	}
	return err.Error()
}
