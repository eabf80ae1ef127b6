package platform

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"transect/client/wait"
	"transect/platform/store"
)

// Background jobs. Requests add a row to the table "jobs" in their transaction
// (enqueue). Of the processes that have the folder open, the one that holds the
// lock of jobsFile runs the jobs; the lock of a process that died is free at
// once. A job deletes its row in the transaction that stores its result, so
// nothing is stored twice, nor for a job that was cancelled meanwhile.

// The kinds of jobs.
const (
	ingestionJob = "ingestion"
	productJob   = "product"
	archiveJob   = "archive"
)

// slots is how many jobs of a kind run at once. Ingestions mostly wait for the disk.
var slots = map[string]int{ingestionJob: 8, productJob: 4, archiveJob: 1}

const (
	// maxAttempts is how often a job is begun before it fails: one that takes its
	// process down must not do so forever.
	maxAttempts = 10
	retryDelay  = 3 * time.Second        // before a job that failed is begun again
	pollDelay   = 200 * time.Millisecond // between two looks for jobs of other processes
)

// errLost means that the job was cancelled or started over.
var errLost = errors.New("the job was cancelled or started over")

// job is one attempt at a piece of work.
type job struct {
	id, kind string
	attempt  int64 // from 1
}

// workers run the jobs of one process.
type workers struct {
	p      *Platform
	all    sync.WaitGroup
	wakeup chan struct{}

	mu      sync.Mutex
	running map[job]context.CancelCauseFunc
}

// enqueue adds a job, or starts it over.
func enqueue(tx *store.Tx, kind, id string) error {
	return tx.Exec(`INSERT INTO jobs (id, kind) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, attempts = attempts + 1`, id, kind)
}

// startWorkers starts the loop that runs jobs until the platform closes.
func (p *Platform) startWorkers() {
	p.workers = &workers{p: p, wakeup: make(chan struct{}, 1), running: map[job]context.CancelCauseFunc{}}
	p.workers.all.Go(p.workers.loop)
	p.workers.all.Go(func() { p.blobs.Sweep(time.Now().Add(-24 * time.Hour)) })
}

// wake has the loop look for jobs now.
func (w *workers) wake() {
	select {
	case w.wakeup <- struct{}{}:
	default:
	}
}

func (w *workers) loop() {
	lock := flock.New(filepath.Join(w.p.options.Dir, jobsFile), flock.SetPermissions(0o600))
	defer lock.Unlock()
	var jobs sync.WaitGroup
	defer jobs.Wait()
	for closing := w.p.closing; closing.Err() == nil; {
		locked, err := lock.TryLock()
		if locked {
			err = w.schedule(&jobs)
		}
		if err != nil && closing.Err() == nil {
			w.p.log.Error("cannot look for jobs", "error", err)
		}
		select {
		case <-w.wakeup:
		case <-time.After(pollDelay):
		case <-closing.Done():
		}
	}
}

// schedule stops the jobs that were cancelled or started over, and starts those
// that are due.
func (w *workers) schedule(jobs *sync.WaitGroup) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var due []job
	if err := w.p.store.Read(w.p.closing, func(tx *store.Tx) error {
		free := map[string]int{}
		for kind, n := range slots {
			free[kind] = n
		}
		for j, cancel := range w.running {
			free[j.kind]--
			if err := checkJob(tx, j); errors.Is(err, errLost) {
				cancel(err)
			} else if err != nil {
				return err
			}
		}
		for kind, n := range slots {
			waiting, err := w.waiting(tx, kind, n)
			if err != nil {
				return err
			}
			due = append(due, waiting[:min(len(waiting), free[kind])]...)
		}
		return nil
	}); err != nil || len(due) == 0 {
		return err
	}
	if err := w.p.store.Write(w.p.closing, func(tx *store.Tx) error {
		for _, j := range due {
			if err := tx.Exec("UPDATE jobs SET attempts = ? WHERE id = ? AND attempts = ?", j.attempt, j.id, j.attempt-1); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, j := range due {
		ctx, cancel := context.WithCancelCause(w.p.closing)
		w.running[j] = cancel
		jobs.Go(func() { w.run(ctx, j) })
	}
	return nil
}

// waiting lists the first jobs of a kind, without those that run.
func (w *workers) waiting(tx *store.Tx, kind string, limit int) (waiting []job, err error) {
	rows, err := tx.Query("SELECT id, attempts FROM jobs WHERE kind = ? ORDER BY id LIMIT ?", kind, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		j := job{kind: kind}
		if err := rows.Scan(&j.id, &j.attempt); err != nil {
			return nil, err
		}
		if w.running[j] == nil {
			j.attempt++
			waiting = append(waiting, j)
		}
	}
	return waiting, rows.Err()
}

// run does one job. One that failed is left for another attempt.
func (w *workers) run(ctx context.Context, j job) {
	do := map[string]func(context.Context, job) error{
		ingestionJob: w.p.ingest, productJob: w.p.runProduct, archiveJob: w.p.archive,
	}[j.kind]
	err := recovered(func() error { return do(ctx, j) })
	switch {
	case err == nil, errors.Is(err, errLost), errors.Is(context.Cause(ctx), errLost):
	case w.p.closing.Err() != nil: // an interrupted attempt does not count
		w.p.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
			return tx.Exec("UPDATE jobs SET attempts = attempts - 1 WHERE id = ? AND attempts = ?", j.id, j.attempt)
		})
	default:
		w.p.log.Error("a job failed", "kind", j.kind, "id", j.id, "attempt", j.attempt, "error", err)
		wait.Sleep(ctx, retryDelay)
	}
	w.mu.Lock()
	w.running[j](nil)
	delete(w.running, j)
	w.mu.Unlock()
	w.wake()
}

// checkJob fails with errLost when a job was cancelled or started over. It runs
// in the transaction that stores what the job did.
func checkJob(tx *store.Tx, j job) error {
	var wanted bool
	err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM jobs WHERE id = ? AND attempts = ?)", j.id, j.attempt).Scan(&wanted)
	if err == nil && !wanted {
		err = errLost
	}
	return err
}

// finishJob removes a job from the table, or fails like checkJob.
func finishJob(tx *store.Tx, j job) error {
	n, err := tx.Affected("DELETE FROM jobs WHERE id = ? AND attempts = ?", j.id, j.attempt)
	if err == nil && n == 0 {
		err = errLost
	}
	return err
}

// panicError is a panic in a job or a handler: a sentence for users, the stack
// for the log.
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
