package platform

import (
	"context"
	"errors"
	"slices"
	"strings"
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

// Ingestions wait for the disk most of the time.
var slots = map[string]int{ingestionJob: 8, productJob: 4, archiveJob: 1}

// claimed is how many jobs for each slot are taken at once: taking them one by
// one costs more than most ingestions do.
const claimed = 4

// gathering is how long to wait for more jobs when there is one.
const gathering = 5 * time.Millisecond

// maxAttempts is how often a job is begun before it counts as failed: one that
// takes its process down must not do so forever. Those that waited in such a
// process count as begun.
const maxAttempts = 10

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
		jobs, err := w.claim(ctx, kind, claimed*slots[kind])
		if err != nil && ctx.Err() == nil {
			w.p.log.Error("cannot look for work", "kind", kind, "error", err)
		}
		for _, j := range jobs {
			free <- struct{}{}
			all.Go(func() {
				defer func() { <-free }()
				w.run(j, do)
			})
		}
		if len(jobs) > 0 {
			continue
		}
		select {
		case <-bell:
			time.Sleep(gathering)
		case <-time.After(w.p.options.Lease / 6): // another process may have left something
		case <-ctx.Done():
			return
		}
	}
}

// held is a job of this process and how to stop it.
type held struct {
	job
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// claim takes up to so many jobs that nobody works on.
func (w *workers) claim(ctx context.Context, kind string, most int) ([]held, error) {
	now := time.Now()
	due := false
	err := w.p.store.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow("SELECT EXISTS (SELECT 1 FROM jobs WHERE kind = ? AND lease < ?)", kind, now.UnixMilli()).Scan(&due)
	})
	if err != nil || !due {
		return nil, err
	}
	var taken []held
	err = w.p.store.Write(ctx, func(tx *store.Tx) error {
		taken = nil
		rows, err := tx.Query(`UPDATE jobs SET owner = ?, lease = ?, attempts = attempts + 1
			WHERE id IN (SELECT id FROM jobs WHERE kind = ? AND lease < ? ORDER BY id LIMIT ?) RETURNING id, attempts`,
			w.owner, now.Add(w.p.options.Lease).UnixMilli(), kind, now.UnixMilli(), most)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			h := held{job: job{kind: kind}}
			if err := rows.Scan(&h.id, &h.attempt); err != nil {
				return err
			}
			taken = append(taken, h)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(taken, func(a, b held) int { return strings.Compare(a.id, b.id) })
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range taken {
		h := &taken[i]
		h.ctx, h.cancel = context.WithCancelCause(ctx)
		w.running[h.job] = h.cancel
	}
	return taken, nil
}

// run does one job and keeps the platform alive whatever happens in it.
func (w *workers) run(h held, do func(context.Context, job) error) {
	ctx, j := h.ctx, h.job
	defer h.cancel(nil)
	err := ctx.Err() // it was waiting for its turn
	if err == nil {
		err = guarded(func() error { return do(ctx, j) })
	}
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
		if len(held) == 0 {
			continue
		}
		var lost []job
		err := w.p.store.Write(w.p.closing, func(tx *store.Tx) error {
			lost = nil
			until := time.Now().Add(w.p.options.Lease).UnixMilli()
			for j := range held {
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
			w.p.log.Error("cannot renew the leases", "error", err)
		}
		for _, j := range lost {
			held[j](errLost)
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

// done takes a finished job out of the table, or fails like holds.
func (p *Platform) done(tx *store.Tx, j job) error {
	n, err := tx.Affected("DELETE FROM jobs WHERE id = ? AND owner = ? AND attempts = ?", j.id, p.workers.owner, j.attempt)
	if err == nil && n == 0 {
		err = errLost
	}
	return err
}
