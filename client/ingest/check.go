package ingest

import (
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"transect/client/ingest/gather"
	"transect/client/ingest/preflight"
)

// Preflight looks at all files as a run would, and sends nothing. No
// connection is needed.
func Preflight(ctx context.Context, o Options) (*preflight.Report, error) {
	if o.Company == "" && o.Project == "" {
		o.Project = "none" // files can be looked at without a target
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	r := &run{o: o, checker: preflight.New(preflight.Options{Open: o.Source.Open, Expected: o.Expected, Dir: spoolDir(o.StateDir)})}
	defer r.checker.Close()
	return r.lookAll(ctx)
}

// lookAll reads all files for the check.
func (r *run) lookAll(ctx context.Context) (*preflight.Report, error) {
	group, inner := errgroup.WithContext(ctx)
	found := make(chan *work, 256)
	group.Go(func() error {
		defer close(found)
		for item, err := range r.items(inner) {
			var skipped *gather.Skipped
			if err != nil {
				if !errors.As(err, &skipped) {
					return err
				}
				r.addCheck(gather.Item{}, nil, err)
				continue
			}
			keep, err := r.wanted(item)
			if err != nil {
				return err
			}
			if keep {
				if err := put(inner, found, &work{item: item}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for range 2 * runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			reader := &reader{r, make([]byte, 3*sample)}
			for w := range found {
				r.addCheck(w.item, w.photo, reader.read(w))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, stopped(ctx)
	}
	return r.checker.Report(), nil
}
