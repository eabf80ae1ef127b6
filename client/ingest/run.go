package ingest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"transect/client"
	"transect/client/fault"
	"transect/client/imagery"
	"transect/client/ingest/gather"
	"transect/client/ingest/preflight"
)

// run is one run. Its stages work side by side, each handing items to the
// next: find files, read them, create datasets in batches, send.
type run struct {
	c     *client.Client
	o     Options
	id    string
	index *index
	spool *Spool
	breaker

	started time.Time
	checker *preflight.Checker

	mu       sync.Mutex // of what follows, and of callbacks
	counts   Counts
	failures []Outcome
	claimed  map[string]bool // datasets that are of a file with another name

	filtering sync.Mutex
	late      []*work           // whose datasets another run has just made
	copied    bool              // a file was skipped as the copy of another
	given     map[string]string // datasets this run let go of, and those that stay in their place
	found     []stray
}

func newRun(c *client.Client, o Options) (*run, error) {
	r := &run{c: c, o: o, started: o.Now()}
	r.checker = preflight.New(preflight.Options{Open: o.Source.Open, Expected: o.Expected, SkipDuplicates: true, Dir: spoolDir(o.StateDir)})
	var random [3]byte
	rand.Read(random[:])
	r.id = r.started.UTC().Format("20060102-150405.000-") + hex.EncodeToString(random[:])
	var err error
	r.spool, err = newSpool(o.StateDir, r.id)
	return r, err
}

// whole does the run from beginning to end.
func (r *run) whole(ctx context.Context) (*Result, error) {
	err := r.stages(ctx)
	if err == nil && r.stopping() {
		err = fault.Of(&fault.CancelledError{}, "told to stop")
	}
	if err == nil {
		err = r.afterwards(ctx)
	}
	if ctx.Err() != nil {
		err = stopped(ctx)
	}
	if closing := r.spool.close(); err == nil {
		err = closing
	}
	result := r.result()
	r.checker.Close()
	r.index.close()
	if r.o.Report != "" && !(err != nil && result.Counts == (Counts{}) && exists(r.o.Report)) {
		// The report of an earlier run tells more than that of one that did nothing.
		if failed := r.writeReport(result, err); err == nil {
			err = failed
		}
	}
	return result, err
}

func (r *run) result() *Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := r.counts
	counts.Bytes = r.o.Progress.Moved.Load()
	return &Result{ID: r.id, Counts: counts, Failures: r.failures, Preflight: r.checker.Report(), Outcomes: r.spool,
		Seconds: r.o.Now().Sub(r.started).Seconds()}
}

// items are what is to be ingested.
func (r *run) items(ctx context.Context) func(func(gather.Item, error) bool) {
	if r.o.Items != nil {
		return r.o.Items
	}
	return gather.Items(ctx, r.o.Source)
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
			return stopped(inner)
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
		return stopped(ctx)
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
		return stopped(ctx)
	}
	p.Complete.Store(true)
	return nil
}

// wanted says whether an item has files, and the caller's filter keeps it.
func (r *run) wanted(item gather.Item) (bool, error) {
	if len(item.Members) == 0 || r.o.Filter == nil {
		return len(item.Members) > 0, nil
	}
	r.filtering.Lock()
	defer r.filtering.Unlock()
	return r.o.Filter(item.Members[0].File)
}

// leftOut tells about a file that was not gathered. Other errors end the run.
func (r *run) leftOut(err error) error {
	var skipped *gather.Skipped
	if !errors.As(err, &skipped) {
		return err
	}
	r.addCheck(gather.Item{}, nil, err)
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
			return stopped(ctx)
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

func (r *run) skip(w *work, dataset, remark string) error {
	w.outcome, w.dataset, w.remark = Skipped, dataset, remark
	return r.end(w.result())
}

// end notes what became of an item and tells it.
func (r *run) end(o Outcome) error {
	p := r.o.Progress
	r.mu.Lock()
	defer r.mu.Unlock()
	switch o.Outcome {
	case Created:
		r.counts.Created++
	case Resumed:
		r.counts.Resumed++
	case Skipped:
		r.counts.Skipped++
	case Failed:
		r.counts.Failed++
		if len(r.failures) < MaxFailures {
			r.failures = append(r.failures, o)
		}
	}
	if o.Outcome == Failed {
		p.Failed.Add(1)
	} else {
		p.DoneFiles.Add(1)
		if o.Outcome == Skipped || r.o.DryRun {
			p.DoneBytes.Add(o.Size)
		}
	}
	if err := r.spool.add(o); err != nil {
		return named(err)
	}
	if r.o.OnOutcome != nil {
		return r.o.OnOutcome(o)
	}
	return nil
}

func (r *run) addCheck(item gather.Item, photo *imagery.Photo, err error) {
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
