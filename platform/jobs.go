package platform

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"transect/platform/store"
)

// The kinds of work in the background, and how many of each run at once.
const (
	ingestionJob = "ingestion"
	productJob   = "product"
	archiveJob   = "archive"
)

var slots = map[string]int{ingestionJob: 2, productJob: 4, archiveJob: 1}

// maxAttempts is how often a job is begun before it counts as failed: one that
// takes its process down must not do so forever.
const maxAttempts = 5

// errLost: the job is no longer this process's: it was cancelled, or its lease
// passed and another process took it.
var errLost = errors.New("the job was taken away")

// job is one piece of work, held by this process.
type job struct {
	id, kind string
	attempt  int64 // a later attempt has a higher number
}

// workers do the work in the background of one process.
type workers struct {
	p     *Platform
	owner string
	wait  func()
	bells map[string]chan struct{} // rung when there may be something to do

	mu      sync.Mutex
	running map[job]context.CancelCauseFunc
}

// enqueue makes work due, or due again from the beginning.
func enqueue(tx *store.Tx, kind, id string) error {
	return tx.Exec(`INSERT INTO jobs (id, kind) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, owner = NULL, lease = 0, attempts = attempts + 1`, id, kind)
}

// startWorkers starts the loops that take jobs, until the platform closes.
func (p *Platform) startWorkers() {
	w := &workers{p: p, owner: randomText(), bells: map[string]chan struct{}{}, running: map[job]context.CancelCauseFunc{}}
	p.workers = w
	var all sync.WaitGroup
	w.wait = all.Wait
	for kind := range slots {
		w.bells[kind] = make(chan struct{}, 1)
	}
	for kind, do := range map[string]func(context.Context, job) error{
		ingestionJob: p.ingest, productJob: p.runProduct, archiveJob: p.archive,
	} {
		all.Go(func() { w.loop(kind, w.bells[kind], do) })
	}
	all.Go(w.renew)
	all.Go(func() { p.blobs.Sweep(time.Now().Add(-24 * time.Hour)) })
}

// wake tells the loops that there is something to do.
func (w *workers) wake() {
	for _, bell := range w.bells {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
}

// loop runs jobs of one kind, a few at a time.
func (w *workers) loop(kind string, bell chan struct{}, do func(context.Context, job) error) {
	ctx := w.p.closing
	free := make(chan struct{}, slots[kind])
	var all sync.WaitGroup
	defer all.Wait()
	for {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		j, err := w.claim(ctx, kind)
		if err != nil && ctx.Err() == nil {
			w.p.log.Error("cannot look for work", "kind", kind, "error", err)
		}
		if err != nil || j == nil {
			<-free
			select {
			case <-bell:
			case <-time.After(w.p.options.Lease / 6): // another process may have left something
			case <-ctx.Done():
				return
			}
			continue
		}
		all.Go(func() {
			defer func() { <-free }()
			w.run(ctx, *j, do)
		})
	}
}

// claim takes one job that nobody works on, or nil.
func (w *workers) claim(ctx context.Context, kind string) (*job, error) {
	now := time.Now()
	due := false
	err := w.p.store.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow("SELECT EXISTS (SELECT 1 FROM jobs WHERE kind = ? AND lease < ?)", kind, now.UnixMilli()).Scan(&due)
	})
	if err != nil || !due {
		return nil, err
	}
	j := &job{kind: kind}
	err = w.p.store.Write(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(`UPDATE jobs SET owner = ?, lease = ?, attempts = attempts + 1
			WHERE id = (SELECT id FROM jobs WHERE kind = ? AND lease < ? ORDER BY id LIMIT 1) RETURNING id, attempts`,
			w.owner, now.Add(w.p.options.Lease).UnixMilli(), kind, now.UnixMilli()).Scan(&j.id, &j.attempt)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // another process was quicker
	}
	return j, err
}

// run does one job and keeps the platform alive whatever happens in it.
func (w *workers) run(ctx context.Context, j job, do func(context.Context, job) error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.mu.Lock()
	w.running[j] = cancel
	w.mu.Unlock()
	err := guarded(func() error { return do(ctx, j) })
	w.mu.Lock()
	delete(w.running, j)
	w.mu.Unlock()
	if err == nil || errors.Is(err, errLost) || errors.Is(context.Cause(ctx), errLost) {
		return
	}
	stopping := w.p.closing.Err() != nil
	if !stopping {
		w.p.log.Error("work in the background failed", "kind", j.kind, "id", j.id, "attempt", j.attempt, "error", err)
	}
	// Left for another attempt: at once by another process when this one
	// stops, else a little later.
	lease := time.Now().Add(w.p.options.Lease).UnixMilli()
	attempts := j.attempt
	if stopping {
		lease, attempts = 0, j.attempt-1
	}
	w.p.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.Exec("UPDATE jobs SET owner = NULL, lease = ?, attempts = ? WHERE id = ? AND owner = ? AND attempts = ?",
			lease, attempts, j.id, w.owner, j.attempt)
	})
}

// renew keeps the leases of the running jobs, and stops those that were taken away.
func (w *workers) renew() {
	ticks := time.NewTicker(w.p.options.Lease / 3)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
		case <-w.p.closing.Done():
			return
		}
		w.mu.Lock()
		held := make(map[job]context.CancelCauseFunc, len(w.running))
		for j, cancel := range w.running {
			held[j] = cancel
		}
		w.mu.Unlock()
		for j, cancel := range held {
			err := w.p.store.Write(w.p.closing, func(tx *store.Tx) error {
				n, err := tx.Affected("UPDATE jobs SET lease = ? WHERE id = ? AND owner = ? AND attempts = ?",
					time.Now().Add(w.p.options.Lease).UnixMilli(), j.id, w.owner, j.attempt)
				if err == nil && n == 0 {
					cancel(errLost)
				}
				return err
			})
			if err != nil && w.p.closing.Err() == nil {
				w.p.log.Error("cannot renew a lease", "id", j.id, "error", err)
			}
		}
	}
}

// stopJob stops a job that was taken out of the table, when it runs here.
func (w *workers) stopJob(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for j, cancel := range w.running {
		if j.id == id {
			cancel(errLost)
		}
	}
}

// holds fails with errLost when a job is no longer this process's. What a job
// keeps is written in the same transaction, so nothing is ever done twice.
func (p *Platform) holds(tx *store.Tx, j job) error {
	var held bool
	err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM jobs WHERE id = ? AND owner = ? AND attempts = ?)",
		j.id, p.workers.owner, j.attempt).Scan(&held)
	if err == nil && !held {
		err = errLost
	}
	return err
}

// done takes a finished job out of the table.
func (p *Platform) done(tx *store.Tx, j job) error {
	if err := p.holds(tx, j); err != nil {
		return err
	}
	return tx.Exec("DELETE FROM jobs WHERE id = ?", j.id)
}
