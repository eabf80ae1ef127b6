package ingest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"transect/client"
	"transect/client/fault"
	"transect/client/preflight"
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
		err = fault.Stopped(ctx)
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
