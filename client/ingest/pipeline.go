package ingest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"transect/client"
	"transect/client/fault"
	"transect/client/formats/imagery"
	"transect/client/preflight"
	"transect/client/reconcile"
	"transect/client/scan"
	"transect/client/verdict"
)

// run is one ingest. pipeline shows its stages, finish what follows them.
type run struct {
	client   *client.Client
	options  Options
	id       string
	started  time.Time
	index    *index
	outcomes *OutcomeLog
	checker  *preflight.Checker
	breaker  breaker
	loaded   <-chan struct{} // closed when there is an index; nil when there is one, or never will be

	created     atomic.Int64 // datasets
	accompanied atomic.Bool  // other runs create datasets in the target

	callback sync.Mutex // one call of Filter or Name at a time

	mu                  sync.Mutex // of what follows, and of OnOutcome
	counts              verdict.Counts
	reached             int64 // items of the source that have a verdict
	failures            []Outcome
	notes               []Outcome
	project, mission    string            // names of the target
	pending             int64             // files that the platform has not read yet
	verified            int64             // files whose checksums were compared in the end, and agree
	temporary           int64             // failed files that may succeed later
	relocated           map[string]bool   // datasets that hold a relocated file of this run
	waiting             []*item           // files that another run has just created a dataset for
	duplicateCandidates []*item           // files with the samples of an earlier one
	discarded           map[string]string // duplicates this run deleted, and the datasets kept instead
	orphans             []reconcile.Orphan
	refused             error // of the first file that the budget does not allow
}

// item is a file, or several that form one dataset, on its way through the
// pipeline.
type item struct {
	scan.Item
	order      int // in the scan
	key        string
	content    string // hash without the name, to find duplicates; "" when they are sent
	photo      *imagery.Photo
	photoError error    // why it is not complete
	projection string   // reference system of a point cloud that names none, from the file beside it
	problem    *problem // that the check found, or nil
	title      string   // name of the dataset
	dataset    string
	verdict    verdict.Verdict // when all goes well
	remark     string
	hint       string
	resumed    bool               // its dataset existed
	foreign    bool               // and was created by a run of another machine, which may still be sending it
	known      time.Time          // when it was last known that the file is missing
	elsewhere  bool               // another run has sent a file of it meanwhile
	created    bool               // its dataset, by this run
	sent       bool               // by this run
	pending    bool               // there, but not yet read by the platform
	uploaded   []bool             // by member; nil when none is
	md5s       []string           // of the members
	replaces   string             // dataset of the previous version
	superseded []string           // empty datasets of previous versions
	reserved   []func(sent int64) // of the budget, by member; nil when nothing is
	unsent     int64              // bytes to send, of a dataset that existed; known under a budget only
}

// main is the file the item is named after.
func (it *item) main() scan.Member { return it.Members[0] }

func newRun(c *client.Client, o Options) (*run, error) {
	r := &run{client: c, options: o, started: o.Now(), relocated: map[string]bool{}, discarded: map[string]string{}}
	r.checker = newChecker(o)
	var random [3]byte
	rand.Read(random[:])
	r.id = r.started.UTC().Format("20060102-150405.000-") + hex.EncodeToString(random[:])
	var err error
	r.outcomes, err = newOutcomeLog(o.StateDir, r.id)
	return r, err
}

// newChecker makes the checker of a run, which finds duplicates by itself.
func newChecker(o Options) *preflight.Checker {
	return preflight.New(preflight.Options{Tree: o.Source.Tree, Expected: o.Expected, SkipDuplicates: true,
		Dir: tempDir(o.StateDir)})
}

// do performs the run and writes the report.
func (r *run) do(ctx context.Context) (*Result, error) {
	err := r.pipeline(ctx)
	if err == nil && r.stopping() {
		err = fault.Of(&fault.CancelledError{}, "stop requested")
	}
	if err == nil {
		err = r.overBudget()
	}
	if err == nil {
		err = cmp.Or(r.finish(ctx), r.overBudget())
	}
	if found := r.options.Progress.Files.Load(); err == nil && found != r.reached {
		err = fault.Hinted(fault.Of(&fault.RuntimeError{}, "internal error: %d files were found, and %d have a verdict",
			found, r.reached), "run it again: what is there is not sent twice; and report this")
	}
	if ctx.Err() != nil {
		err = fault.Stopped(ctx)
	}
	if closing := r.outcomes.close(); err == nil {
		err = closing
	}
	result := r.result()
	r.checker.Close()
	r.index.close()
	// The report of an earlier run says more than that of one that did nothing.
	_, missing := r.options.Source.Tree.Stat(r.options.Report)
	nothing := err != nil && result.Counts == (verdict.Counts{}) && missing == nil
	if r.options.DryRun && isRealReport(r.options.Report, r.options.Source.Tree) {
		r.options.Logger.Info("the report of a real run is left as it is: this is a dry run", "report", r.options.Report)
		nothing = true
	}
	if r.options.Report != "" && !nothing {
		if failed := r.writeReport(result, err); err == nil {
			err = failed
		}
	}
	return result, err
}

// sends reports whether datasets are created and files sent, or shown by the client
// of a rehearsal.
func (r *run) sends() bool { return r.options.sends }

func (r *run) result() *Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := r.counts
	for _, list := range [][]Outcome{r.failures, r.notes} {
		slices.SortFunc(list, func(a, b Outcome) int { return imagery.NaturalCompare(a.Name, b.Name) })
	}
	counts.Bytes = r.options.Progress.Transferred.Load()
	return &Result{ID: r.id, NotReached: max(0, r.options.Progress.Files.Load()-r.reached), Counts: counts,
		Failures: r.failures, Preflight: r.checker.Report(context.Background()), Outcomes: r.outcomes, Pending: r.pending,
		Temporary: r.temporary, Verified: r.verified,
		Target: r.options.Target, Project: r.project, Mission: r.mission, Notes: r.notes,
		Seconds: r.options.Now().Sub(r.started).Seconds(), Moving: r.options.Progress.Transferred.Moving()}
}

// pipeline runs the stages concurrently: read the datasets of the target, scan the
// source, inspect each file and decide what to do with it, create datasets in batches,
// upload. Files that need nothing leave it after the inspection.
func (r *run) pipeline(ctx context.Context) error {
	if r.options.Check == CheckStrict {
		r.compareMission(ctx)
		if err := r.checkAll(ctx); err != nil {
			return err
		}
	}
	loaded := make(chan struct{})
	r.loaded = loaded
	// Nothing is decided, or counted, before: a run that fails here leaves the report of
	// an earlier one as it is.
	await := func(ctx context.Context) error {
		select {
		case <-loaded:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return fault.Stopped(ctx)
		}
		return nil
	}
	inspected := make(chan sequencedItem, 2*r.options.Batch)
	ready := make(chan *item, 2*r.options.Workers)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if r.index, err = load(ctx, r.client, r.options.Target, tempDir(r.options.StateDir)); err == nil {
			close(loaded)
		}
		return err
	})
	if r.options.Check != CheckStrict {
		group.Go(func() error {
			r.compareMission(ctx)
			return nil
		})
	}
	group.Go(func() error {
		r.nameProject(ctx)
		return nil
	})
	group.Go(func() error {
		defer close(inspected)
		return r.readAll(ctx, r.options.Progress, func(skipped *scan.Skipped) error {
			if err := await(ctx); err != nil {
				return err
			}
			r.checker.Add(scan.Item{}, nil, skipped)
			return r.record(leftOut(skipped))
		}, func(ctx context.Context, it *item) error {
			if err := await(ctx); err != nil {
				return err
			}
			return r.inspect(ctx, it, inspected)
		})
	})
	group.Go(func() error {
		defer close(ready)
		return r.create(ctx, inspected, ready)
	})
	for range r.options.Workers {
		group.Go(func() error {
			for it := range ready {
				if ctx.Err() != nil {
					return fault.Stopped(ctx)
				}
				if !r.stopping() {
					if err := r.upload(ctx, it); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// stopping reports whether no further file is to be started.
func (r *run) stopping() bool {
	select {
	case <-r.options.Stop:
		return true
	default:
		return false
	}
}

// put sends an item to the next stage, unless the run stops.
func put[T any](ctx context.Context, to chan<- T, it T) error {
	select {
	case to <- it:
		return nil
	case <-ctx.Done():
		return fault.Stopped(ctx)
	}
}

// scanAhead is how many items the scan is ahead of what is examined at most: those of a
// memory card, so that their number and size are known soon.
const scanAhead = 16 << 10

// readAll scans the source. It visits items from several goroutines, counts them,
// and passes files that cannot be ingested to leftOut.
func (r *run) readAll(ctx context.Context, p *Progress, leftOut func(*scan.Skipped) error,
	visit func(context.Context, *item) error) error {
	group, inner := errgroup.WithContext(ctx)
	scanned := make(chan *item, scanAhead)
	group.Go(func() error {
		defer close(scanned)
		return named(r.scan(inner, scanned, p, leftOut))
	})
	for range 2 * runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for it := range scanned {
				if inner.Err() != nil {
					return fault.Stopped(inner)
				}
				if err := visit(inner, it); err != nil {
					return named(err)
				}
			}
			return nil
		})
	}
	err := group.Wait()
	if err == nil && ctx.Err() != nil {
		err = fault.Stopped(ctx)
	}
	return err
}

// asBefore returns an item, or each of its files as an item of kind file where the
// platform has the main one as that, from a run that was told to send files so.
func (r *run) asBefore(ctx context.Context, it scan.Item) ([]scan.Item, error) {
	if r.options.Source.Kind != "" || it.Kind == "file" || r.loaded == nil && r.index == nil {
		return []scan.Item{it}, nil
	}
	if r.loaded != nil {
		select {
		case <-r.loaded:
		case <-ctx.Done():
			return nil, fault.Stopped(ctx)
		}
	}
	known, err := r.index.named(it.Kind, it.Name)
	if err != nil || len(known) > 0 {
		return []scan.Item{it}, err
	}
	sent, err := r.index.named("file", it.Name)
	if err != nil || !slices.ContainsFunc(sent, func(d reconcile.Dataset) bool {
		return d.Complete() && d.Size == it.Members[0].Size
	}) {
		return []scan.Item{it}, err
	}
	var items []scan.Item
	for i, m := range it.Members {
		m.Component = "file"
		items = append(items, scan.Item{Kind: "file", Name: m.Name, Members: []scan.Member{m}, Sidecar: i > 0})
	}
	return items, nil
}

// scan yields the items of the source that pass the filter.
func (r *run) scan(ctx context.Context, to chan<- *item, p *Progress, leftOut func(*scan.Skipped) error) error {
	items := r.options.Items
	if items == nil {
		items = scan.Items(ctx, r.options.Source)
	}
	report, _ := filepath.Abs(r.options.Report)
	order := 0
	for found, err := range items {
		var skipped *scan.Skipped
		switch {
		case r.stopping():
			return nil
		case errors.As(err, &skipped):
			err = leftOut(skipped)
		case err == nil && len(found.Members) > 0:
			keep, reason := true, scan.Filtered
			if path := found.Members[0].Path; path == r.options.Report || path == report {
				keep, reason = false, scan.OwnReport // of an earlier run
			} else if r.options.Filter != nil {
				r.callback.Lock()
				keep, err = r.options.Filter(found.Members[0].File)
				r.callback.Unlock()
			}
			switch {
			case err != nil:
			case keep:
				var items []scan.Item
				items, err = r.asBefore(ctx, found)
				for _, it := range items {
					if err == nil {
						p.Files.Add(1)
						p.Bytes.Add(it.Size())
						err = put(ctx, to, &item{Item: it, order: order})
						order++
					}
				}
			default:
				for _, m := range found.Members {
					if err == nil {
						err = leftOut(&scan.Skipped{Path: m.Path, Name: m.Name, Reason: reason})
					}
				}
			}
		}
		if err != nil {
			return err
		}
	}
	p.Complete.Store(ctx.Err() == nil)
	return nil
}
