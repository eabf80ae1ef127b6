package ingest

import (
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"transect/client/fault"
	"transect/client/scan"
)

// items are what is to be ingested.
func (r *run) items(ctx context.Context) func(func(scan.Item, error) bool) {
	if r.o.Items != nil {
		return r.o.Items
	}
	return scan.Items(ctx, r.o.Source)
}

func (r *run) stages(ctx context.Context) error {
	if r.o.Check == CheckStrict {
		r.compareMission(ctx)
		if err := r.checkAll(ctx); err != nil {
			return err
		}
	}
	group, inner := errgroup.WithContext(ctx)
	if r.o.Check == CheckWarn {
		group.Go(func() error {
			r.compareMission(inner)
			return nil
		})
	}
	found := make(chan *work, 256)
	known := make(chan *work, 64)
	sent := make(chan *work, 2*r.o.Workers)
	indexed := make(chan struct{})
	group.Go(func() (err error) {
		if r.index, err = load(inner, r.c, r.o.Target, spoolDir(r.o.StateDir)); err == nil {
			close(indexed)
		}
		return err
	})
	group.Go(func() error {
		defer close(found)
		return named(r.find(inner, found))
	})
	group.Go(func() error {
		defer close(known)
		select {
		case <-indexed:
		case <-inner.Done():
			return fault.Stopped(inner)
		}
		readers, reading := errgroup.WithContext(inner)
		for range 2 * runtime.GOMAXPROCS(0) {
			readers.Go(func() error {
				return named((&reader{r, make([]byte, 3*sample)}).all(reading, found, known))
			})
		}
		return readers.Wait()
	})
	group.Go(func() error {
		defer close(sent)
		return r.create(inner, known, sent)
	})
	for range r.o.Workers {
		group.Go(func() error { return r.sendAll(inner, sent) })
	}
	return group.Wait()
}

// stopping says whether no further file shall be begun.
func (r *run) stopping() bool {
	select {
	case <-r.o.Stop:
		return true
	default:
		return false
	}
}

// put hands a work on, unless the run stops.
func put(ctx context.Context, to chan<- *work, w *work) error {
	select {
	case to <- w:
		return nil
	case <-ctx.Done():
		return fault.Stopped(ctx)
	}
}

// find gathers the items.
func (r *run) find(ctx context.Context, found chan<- *work) error {
	p := r.o.Progress
	for item, err := range r.items(ctx) {
		if r.stopping() {
			return nil
		}
		if err != nil {
			if err := r.leftOut(err); err != nil {
				return err
			}
			continue
		}
		keep, err := r.wanted(item)
		if err != nil {
			return err
		}
		if !keep {
			continue
		}
		p.Files.Add(1)
		p.Bytes.Add(item.Size())
		if err := put(ctx, found, &work{item: item}); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return fault.Stopped(ctx)
	}
	p.Complete.Store(true)
	return nil
}

// wanted says whether an item has files, and the caller's filter keeps it.
func (r *run) wanted(item scan.Item) (bool, error) {
	if len(item.Members) == 0 || r.o.Filter == nil {
		return len(item.Members) > 0, nil
	}
	r.filtering.Lock()
	defer r.filtering.Unlock()
	return r.o.Filter(item.Members[0].File)
}

// leftOut tells about a file that was not gathered. Other errors end the run.
func (r *run) leftOut(err error) error {
	var skipped *scan.Skipped
	if !errors.As(err, &skipped) {
		return err
	}
	r.addCheck(scan.Item{}, nil, err)
	if skipped.Passed() {
		return nil
	}
	o := Outcome{Name: skipped.Name, Path: absolute(skipped.Path)}
	o.fail(err)
	r.o.Progress.Files.Add(1)
	return r.end(o)
}

func (r *reader) all(ctx context.Context, found <-chan *work, known chan<- *work) error {
	for w := range found {
		if ctx.Err() != nil {
			return fault.Stopped(ctx)
		}
		todo, err := r.look(ctx, w)
		if err != nil {
			return err
		}
		if !todo {
			continue
		}
		if err := r.nameOf(w); err != nil {
			return err
		}
		if err := put(ctx, known, w); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) nameOf(w *work) (err error) {
	w.name = w.item.Name
	if r.o.Name != nil {
		r.filtering.Lock()
		defer r.filtering.Unlock()
		w.name, err = r.o.Name(w.first().File)
	}
	return err
}
