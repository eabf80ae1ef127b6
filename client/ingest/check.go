package ingest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"transect/client/fault"
	"transect/client/imagery"
	"transect/client/preflight"
	"transect/client/scan"
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
		return r.gathered(inner, found, func(skipped *scan.Skipped) error {
			r.addCheck(scan.Item{}, nil, skipped)
			return nil
		})
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
		return nil, fault.Stopped(ctx)
	}
	return r.checker.Report(), nil
}

// gathered hands on the items that are wanted, and what could not be gathered
// to left.
func (r *run) gathered(ctx context.Context, found chan<- *work, left func(*scan.Skipped) error) error {
	for item, err := range r.items(ctx) {
		var skipped *scan.Skipped
		if errors.As(err, &skipped) {
			if err := left(skipped); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		keep, err := r.wanted(item)
		if err != nil {
			return err
		}
		if keep {
			if err := put(ctx, found, &work{item: item}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) addCheck(item scan.Item, photo *imagery.Photo, err error) {
	r.checker.Add(item, photo, err)
}

// checked hands an item that was read to the check.
func (r *run) checked(w *work, err error) {
	if r.o.Check == CheckWarn {
		r.addCheck(w.item, w.photo, err)
	}
}

// checkAll looks at all files and fails when one of them is wrong.
func (r *run) checkAll(ctx context.Context) error {
	report, err := r.lookAll(ctx)
	if err != nil {
		return err
	}
	if report.Errors == 0 {
		return nil
	}
	return fault.Hinted(fault.Of(&fault.FileError{}, "nothing was sent, as the check of the files found what is wrong: %s", firstErrors(report)),
		"put that right, or let the good files go without check = \"strict\"; a report = \"….json\" lists all of it")
}

// firstErrors tells the first errors of a check.
func firstErrors(report *preflight.Report) string {
	const most = 3
	var list []string
	for _, p := range report.Problems {
		if p.Severity == preflight.Error && len(list) < most {
			list = append(list, strings.TrimPrefix(p.Name+": ", ": ")+p.Message)
		}
	}
	if more := report.Errors - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, "; ")
}
