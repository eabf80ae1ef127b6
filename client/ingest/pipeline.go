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
	"transect/client/internal/reconcile"
	"transect/client/preflight"
	"transect/client/scan"
	"transect/client/verdict"
)

// run is one ingest. pipeline has its stages, finish the steps after them.
type run struct {
	client   *client.Client
	options  Options
	id       string
	started  time.Time
	index    *index
	outcomes *OutcomeLog
	checker  *preflight.Checker
	breaker  breaker
	loaded   <-chan struct{} // closed when index is set; nil when it is set already or never will be

	created     atomic.Int64 // datasets
	accompanied atomic.Bool  // other runs create datasets in the target, too

	callback sync.Mutex // one call of Filter or Name at a time

	mu                  sync.Mutex // of the fields below, and of OnOutcome
	counts              verdict.Counts
	reached             int64 // items of the source with a verdict
	failures            []Outcome
	notes               []Outcome
	project, mission    string            // names of the target
	pending             int64             // files not read by the platform yet
	verified            int64             // files whose checksums were compared at the end, and match
	temporary           int64             // failed files that may succeed later
	relocated           map[string]bool   // datasets that hold a relocated file of this run
	waiting             []*item           // files that another run has just created a dataset for
	duplicateCandidates []*item           // files with the same samples as an earlier one
	discarded           map[string]string // duplicates this run deleted, and the datasets kept instead
	orphans             []reconcile.Orphan
	refused             error // of the first file beyond the budget
}

// item is a file, or several that form one dataset, in the pipeline.
type item struct {
	scan.Item
	order      int // in the scan
	key        string
	content    string // hash without the name, to find duplicates; "" when duplicates are sent
	photo      *imagery.Photo
	photoError error    // why photo is not complete
	projection string   // reference system of a point cloud that names none, from its sidecar file
	problem    *problem // found by the check, or nil
	title      string   // name of the dataset
	dataset    string
	verdict    verdict.Verdict // unless something fails
	remark     string
	hint       string
	resumed    bool               // its dataset existed before this run
	foreign    bool               // and was created on another machine, which may still be sending it
	checked    time.Time          // when its file was last seen to be missing on the platform
	elsewhere  bool               // another run has sent one of its files meanwhile
	created    bool               // its dataset was created by this run
	sent       bool               // by this run
	pending    bool               // uploaded, but not read by the platform yet
	uploaded   []bool             // by member; nil when none is uploaded
	md5s       []string           // of the members
	replaces   string             // dataset of the previous version
	superseded []string           // empty datasets of previous versions
	reserved   []func(sent int64) // of the budget, by member; nil when nothing is reserved
	unsent     int64              // bytes to send to a dataset that existed; set only under a budget
}

// main returns the file the item is named after.
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

// newChecker creates the checker of a run, which finds duplicates itself.
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
	// Do not replace an earlier report by one of a run that did nothing.
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

// sends reports whether datasets are created and files sent, or a rehearsing client shows that.
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

// pipeline runs the stages concurrently: read the target's datasets, scan the source, inspect each
// file and decide what to do with it, create datasets in batches, upload. Files that need nothing
// leave it after the inspection.
func (r *run) pipeline(ctx context.Context) error {
	if r.options.Check == CheckStrict {
		r.compareMission(ctx)
		if err := r.checkAll(ctx); err != nil {
			return err
		}
	}
	loaded := make(chan struct{})
	r.loaded = loaded
	// Decide and count nothing before: a run that fails here leaves an earlier report unchanged.
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
			return r.record(skippedOutcome(skipped))
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

// stopping reports whether no other file should be started.
func (r *run) stopping() bool {
	select {
	case <-r.options.Stop:
		return true
	default:
		return false
	}
}

// put sends an item to the next stage, unless the run ends.
func put[T any](ctx context.Context, to chan<- T, it T) error {
	select {
	case to <- it:
		return nil
	case <-ctx.Done():
		return fault.Stopped(ctx)
	}
}

// scanAhead limits how far the scan is ahead of the inspection. It suffices for a memory card, so
// that number and size of its files are known early.
const scanAhead = 16 << 10

// readAll scans the source. It visits items from several goroutines, counts them, and passes files
// that cannot be ingested to leftOut.
func (r *run) readAll(ctx context.Context, p *Progress, leftOut func(*scan.Skipped) error,
	visit func(context.Context, *item) error) error {
	group, inner := errgroup.WithContext(ctx)
	scanned := make(chan *item, scanAhead)
	group.Go(func() error {
		defer close(scanned)
		return withOperation(r.scan(inner, scanned, p, leftOut))
	})
	for range 2 * runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for it := range scanned {
				if inner.Err() != nil {
					return fault.Stopped(inner)
				}
				if err := visit(inner, it); err != nil {
					return withOperation(err)
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

// splitAsBefore returns an item, or, when an earlier run sent its main file as kind file, each of its
// files as an item of that kind.
func (r *run) splitAsBefore(ctx context.Context, it scan.Item) ([]scan.Item, error) {
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
	datasets, err := r.index.byName(it.Kind, it.Name)
	if err != nil || len(datasets) > 0 {
		return []scan.Item{it}, err
	}
	sent, err := r.index.byName("file", it.Name)
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
				items, err = r.splitAsBefore(ctx, found)
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
