package ingest

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"

	"transect/client"
	"transect/client/fault"
)

const (
	batchesInFlight = 4
	// A batch that is not full waits no longer than this for more.
	batchWait = 15 * time.Millisecond
	// How often a creation is tried whose answer was lost.
	createAttempts = 4
)

// create makes the datasets that are missing, in batches, several at a time.
// The first batch goes out at once, so that sending can begin; while batches
// are in flight the next ones fill up.
func (r *run) create(ctx context.Context, known <-chan *work, sent chan<- *work) error {
	group, inner := errgroup.WithContext(ctx)
	slots := make(chan struct{}, batchesInFlight)
	var seen keySet
	var batch []*work
	var due <-chan time.Time
	ripe := false
	for known != nil || len(batch) > 0 {
		var slot chan<- struct{}
		if len(batch) > 0 && (ripe || known == nil || len(batch) >= r.o.Batch) {
			slot = slots
		}
		more := known
		if len(batch) >= r.o.Batch {
			more = nil
		}
		select {
		case w, ok := <-more:
			if !ok {
				known = nil
				continue
			}
			if r.stopping() {
				continue
			}
			if !seen.add(short(w.key)) {
				r.copied = true
				if err := r.skip(w, "", copyRemark); err != nil {
					return err
				}
				continue
			}
			if w.outcome == Resumed {
				if err := put(inner, sent, w); err != nil {
					return groupError(group, err)
				}
				continue
			}
			if batch = append(batch, w); len(batch) == 1 {
				due, ripe = time.After(batchWait), false
			}
		case <-due:
			ripe, due = true, nil
		case slot <- struct{}{}:
			works := batch
			batch = nil
			group.Go(func() error {
				defer func() { <-slots }()
				return r.createBatch(inner, works, sent)
			})
		case <-inner.Done():
			return groupError(group, fault.Stopped(ctx))
		}
	}
	return group.Wait()
}

// groupError is what stopped a group, or err.
func groupError(group *errgroup.Group, err error) error {
	if first := group.Wait(); first != nil {
		return first
	}
	return err
}

// createBatch makes the datasets of some works and hands them on.
func (r *run) createBatch(ctx context.Context, works []*work, sent chan<- *work) error {
	made, err := r.made(ctx, works)
	if err != nil {
		return err
	}
	if !r.o.DryRun {
		if made, err = r.settle(ctx, made); err != nil {
			return err
		}
	}
	for _, w := range made {
		if err := put(ctx, sent, w); err != nil {
			return err
		}
	}
	return nil
}

// made creates the datasets of works. Those that the platform refuses fail; the
// others are returned.
func (r *run) made(ctx context.Context, works []*work) ([]*work, error) {
	todo := works
	for attempt := 1; len(todo) > 0; attempt++ {
		err := r.request(ctx, todo)
		switch {
		case err == nil:
			todo = nil
		case ctx.Err() != nil:
			return nil, fault.Stopped(ctx)
		case status(err) == http.StatusBadRequest, status(err) == http.StatusConflict,
			status(err) == http.StatusRequestEntityTooLarge, status(err) == http.StatusUnprocessableEntity:
			return r.halves(ctx, works, todo, err)
		case !fault.Transient(err) || stopsAll(err) || attempt == createAttempts:
			return nil, err
		default:
			// It may have been processed although no answer came: look before
			// doing it again.
			r.o.Logger.Warn("creating datasets again", "datasets", len(todo), "reason", err)
			if err := r.pause(ctx, time.Second<<(attempt-1)); err != nil {
				return nil, err
			}
			if todo, err = r.unmade(ctx, todo); err != nil {
				return nil, err
			}
		}
	}
	return works, nil
}

// request sends one batch.
func (r *run) request(ctx context.Context, works []*work) error {
	bodies := make([]client.Object, len(works))
	for i, w := range works {
		bodies[i] = r.body(w)
	}
	if r.o.DryRun {
		return nil
	}
	answer, err := r.c.Datasets.CreateDatasets(ctx, client.CreateDatasets{Datasets: bodies})
	if err != nil {
		return err
	}
	if len(answer) != len(works) {
		return fault.Of(&fault.QueryError{}, "the platform created %d datasets instead of %d", len(answer), len(works))
	}
	byKey := make(map[string]string, len(answer))
	for _, d := range answer {
		byKey[gjson.GetBytes(d.JSON(), "properties."+noteName+".key").String()] = d.ID
	}
	for i, w := range works {
		w.created = true
		if w.dataset = byKey[w.key]; w.dataset == "" {
			w.dataset = answer[i].ID
		}
	}
	return nil
}

// halves finds the works a refused request is refused for, by sending halves.
func (r *run) halves(ctx context.Context, works, todo []*work, refused error) ([]*work, error) {
	if len(todo) == 1 {
		if err := r.end(todo[0].failed(refused)); err != nil {
			return nil, err
		}
		return slices.DeleteFunc(slices.Clone(works), func(w *work) bool { return w == todo[0] }), nil
	}
	done := slices.DeleteFunc(slices.Clone(works), func(w *work) bool { return slices.Contains(todo, w) })
	for _, half := range [][]*work{todo[:len(todo)/2], todo[len(todo)/2:]} {
		made, err := r.made(ctx, half)
		if err != nil {
			return nil, err
		}
		done = append(done, made...)
	}
	return done, nil
}

// unmade gives the works whose datasets are not there, and notes those that are.
func (r *run) unmade(ctx context.Context, works []*work) ([]*work, error) {
	found, err := r.lookup(ctx, works)
	if err != nil {
		return nil, err
	}
	var rest []*work
	for _, w := range works {
		for _, s := range found[w.key] {
			if s.run == r.id && w.dataset == "" {
				w.dataset, w.created = s.id, true
			}
		}
		if w.dataset == "" {
			rest = append(rest, w)
		}
	}
	return rest, nil
}

func (r *run) pause(ctx context.Context, d time.Duration) error {
	if r.c.Pause(ctx, d) != nil {
		return fault.Stopped(ctx)
	}
	return nil
}
