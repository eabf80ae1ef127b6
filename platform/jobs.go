package platform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"transect/client/wait"
)

// Background jobs. Requests add a row to the table "jobs" in their transaction (enqueue). Of the processes
// that have the folder open, the one that holds the lock of jobsFile runs the jobs; the lock of a process
// that died is free at once. A job deletes its row in the transaction that stores its result, so nothing is
// stored twice, nor for a job that was cancelled meanwhile. The jobs of a deleted dataset end, and restart if
// it is restored.

// The kinds of jobs.
const (
	ingestionJob = "ingestion"
	productJob   = "product"
	archiveJob   = "archive"
	tilesJob     = "tiles"
	previewJob   = "preview"
)

// slots limits the concurrent jobs of each kind. Ingestions mostly wait for the disk.
var slots = map[string]int{ingestionJob: 8, productJob: 4, archiveJob: 1, tilesJob: 1, previewJob: 1}

const (
	// maxAttempts limits the attempts of a job, so that one that kills its process does not do so forever.
	maxAttempts = 10
	retryDelay  = 3 * time.Second        // after a failure
	pollDelay   = 200 * time.Millisecond // between two checks for jobs of other processes
)

// errLost means that the job was cancelled or started over, or its dataset deleted.
var errLost = errors.New("the job was cancelled or started over")

// wantedJobs selects the jobs to do, without jobs of deleted datasets.
const wantedJobs = `(SELECT * FROM jobs WHERE NOT EXISTS (SELECT 1 FROM docs
	WHERE collection = 'datasets' AND docs.id = jobs.id AND deletion_date IS NOT NULL))`

// firstJobs selects the next jobs of a kind.
const firstJobs = "SELECT id, attempts FROM " + wantedJobs + " WHERE kind = ? ORDER BY attempts, id LIMIT ?"

// job is one attempt at a piece of work.
type job struct {
	id, kind string
	attempt  int64 // from 1
}

// exhausted returns an error for a job that was begun too often, or nil.
func (j job) exhausted(what string) error {
	if j.attempt <= maxAttempts {
		return nil
	}
	return fmt.Errorf("%s failed %d times without a result", what, maxAttempts)
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
func (r *Request) enqueue(kind, id string) {
	r.exec(`INSERT INTO jobs (id, kind) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, attempts = attempts + 1`, id, kind)
	r.afterwards(r.p.workers.wake)
}

// startWorkers starts the loop that runs jobs until the platform closes.
func (p *Platform) startWorkers() {
	p.workers = &workers{p: p, wakeup: make(chan struct{}, 1), running: map[job]context.CancelCauseFunc{}}
	p.workers.all.Go(p.workers.loop)
}

// wake makes the loop schedule jobs now.
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
	var swept time.Time
	for closing := w.p.closing; closing.Err() == nil; {
		delay := pollDelay
		locked, err := lock.TryLock()
		if locked {
			err = w.schedule(&jobs)
			if time.Since(swept) > sweepEvery {
				swept = time.Now()
				jobs.Go(func() { w.p.sweep(closing, swept) })
			}
		}
		if err != nil && closing.Err() == nil {
			w.p.log.Error("cannot schedule jobs", "error", err)
			delay = retryDelay
		}
		select {
		case <-w.wakeup:
		case <-time.After(delay):
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
	if err := w.p.read(w.p.closing, func(t tx) {
		free := maps.Clone(slots)
		for j, cancel := range w.running {
			free[j.kind]--
			if !t.wants(j) {
				cancel(errLost)
			}
		}
		for kind, n := range slots {
			waiting := w.waiting(t, kind, n)
			due = append(due, waiting[:min(len(waiting), free[kind])]...)
		}
		// Previews take long and are less urgent than ingestions.
		if free[ingestionJob] < slots[ingestionJob] || slices.ContainsFunc(due,
			func(j job) bool { return j.kind == ingestionJob }) {
			due = slices.DeleteFunc(due, func(j job) bool { return j.kind == previewJob })
		}
	}); err != nil || len(due) == 0 {
		return err
	}
	if err := w.p.write(w.p.closing, func(t tx) {
		for _, j := range due {
			t.exec("UPDATE jobs SET attempts = ? WHERE id = ? AND attempts = ?", j.attempt, j.id, j.attempt-1)
		}
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

// waiting lists the next jobs of a kind that are not running. Failed jobs come after new ones.
func (w *workers) waiting(t tx, kind string, limit int) (waiting []job) {
	for row := range t.rows(firstJobs, kind, limit) {
		j := job{kind: kind}
		check(row.Scan(&j.id, &j.attempt))
		running := w.running[j] != nil
		j.attempt++
		// A job stored again may have the number of its predecessor, which is ending.
		if !running && w.running[j] == nil {
			waiting = append(waiting, j)
		}
	}
	return waiting
}

// run executes one job. A failed one is left for another attempt.
func (w *workers) run(ctx context.Context, j job) {
	do := map[string]func(context.Context, job){
		ingestionJob: w.p.ingest, productJob: w.p.runProduct, archiveJob: w.p.archive, tilesJob: w.p.makeTiles,
		previewJob: w.p.makePreview,
	}[j.kind]
	err := recovered(func() { do(ctx, j) })
	switch {
	case err == nil:
	case w.p.closing.Err() != nil, errors.Is(err, errLost), errors.Is(context.Cause(ctx), errLost):
		// An interrupted attempt does not count.
		if err := w.p.write(context.WithoutCancel(ctx), func(t tx) {
			t.exec("UPDATE jobs SET attempts = attempts - 1 WHERE id = ? AND attempts = ?", j.id, j.attempt)
		}); err != nil {
			w.p.log.Error("an interrupted attempt counts", "kind", j.kind, "id", j.id, "attempt", j.attempt, "error", err)
		}
	default:
		w.p.log.Error("a job failed", "kind", j.kind, "id", j.id, "attempt", j.attempt, "error", err)
		_ = wait.Sleep(ctx, retryDelay)
	}
	w.mu.Lock()
	w.running[j](nil)
	delete(w.running, j)
	w.mu.Unlock()
	w.wake()
}

// wants reports whether a job is still to be done and was not started over.
func (t tx) wants(j job) (wanted bool) {
	check(t.QueryRow("SELECT EXISTS (SELECT 1 FROM "+wantedJobs+" WHERE id = ? AND attempts = ?)", j.id,
		j.attempt).Scan(&wanted))
	return wanted
}

// need fails with errLost when a job is no longer wanted.
func (t tx) need(j job) {
	if !t.wants(j) {
		panic(errLost)
	}
}

// finish removes a job from the table, in the transaction that stores its
// result, or fails like need.
func (t tx) finish(j job) {
	if must(t.Affected("DELETE FROM jobs WHERE id = ? AND attempts = ?", j.id, j.attempt)) == 0 {
		panic(errLost)
	}
}
