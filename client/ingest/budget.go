package ingest

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"transect/client"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/internal/reconcile"
	"transect/client/preflight"
	"transect/client/scan"
)

// Under a byte budget nothing is created or sent before all files are inspected, and nothing at all
// if they exceed it. Items from an iterator, which may be endless, are not gathered: they are sent
// while they fit. A file's bytes are reserved before its dataset is created, so that an exhausted
// budget leaves no empty dataset.

// gathers reports whether the run finds all files before it creates anything.
func (r *run) gathers() bool {
	_, limited := r.client.Room()
	return limited && r.options.Items == nil && !r.options.DryRun
}

// fits reports whether the budget allows all items of the run; if not, the run is refused.
func (r *run) fits(items []*item) bool {
	var bytes int64
	for _, it := range items {
		if it.resumed {
			bytes += it.unsent
		} else {
			bytes += it.Size()
		}
	}
	err := fits(r.client, len(items), bytes)
	if err != nil {
		r.mu.Lock()
		r.refused = err
		r.mu.Unlock()
	}
	return err == nil
}

// unsent returns how many bytes of an item are missing from the dataset created for it.
func (r *run) unsent(it *item, d reconcile.Dataset) (n int64) {
	if !r.gathers() {
		return 0
	}
	for _, m := range it.Members {
		if c, _ := d.Component(m.Component); c.Uploaded {
			continue
		}
		missing, err := r.client.Missing(d.ID, m.Component, m.Path)
		if err != nil {
			missing = 0 // its upload will report the error
		}
		n += missing
	}
	return n
}

// fits returns an error when the bytes to send exceed the rest of the budget.
func fits(c *client.Client, files int, bytes int64) error {
	room, limited := c.Room()
	if !limited || bytes <= room {
		return nil
	}
	sent, err := c.Reserve(bytes)
	if err == nil { // another transfer released some meanwhile
		sent(bytes)
		return nil
	}
	what := "1 file"
	if files != 1 {
		what = fmt.Sprintf("%d files", files)
	}
	hint := ""
	if f := fault.Find(err); f != nil {
		hint = f.Facts().Hint + "; "
	}
	return fault.Hinted(fault.Of(&fault.LimitError{},
		"nothing was created or sent: %s of %s are to be sent (%d bytes), and the budget leaves %s",
		what, human.Size(bytes), bytes, human.Size(room)),
		"%sor send fewer files at a time; retries count as well", hint)
}

// Fits returns an error when the files exceed the client's budget, before anything is created for
// them. Files that a run would leave out do not count.
func Fits(ctx context.Context, c *client.Client, o Options) error {
	if _, limited := c.Room(); !limited || c.Rehearses() {
		return nil
	}
	o.Project = cmp.Or(o.Project, "none") // it need not exist yet
	if err := o.complete(); err != nil {
		return err
	}
	r := &run{options: o,
		checker: preflight.New(preflight.Options{Tree: o.Source.Tree, SkipDuplicates: true, Dir: tempDir(o.StateDir)})}
	defer r.checker.Close()
	var (
		mu    sync.Mutex
		seen  keySet
		files int
		bytes int64
	)
	err := r.readAll(ctx, &Progress{}, func(*scan.Skipped) error { return nil }, func(_ context.Context, it *item) error {
		failed := r.sample(it)
		if p := r.checker.Add(it.Item, it.photo, cmp.Or(failed, it.photoError)); failed != nil ||
			p != nil && o.Damaged != Send {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if seen.add(cmp.Or(it.content, it.key)) {
			files, bytes = files+1, bytes+it.Size()
		}
		return nil
	})
	return cmp.Or(err, fits(c, files, bytes))
}

// reserve returns the items that fit the budget. After the first that does not, the run starts no
// other, and ends with its error when those before it are done.
func (r *run) reserve(items []*item) []*item {
	if r.options.DryRun {
		return items
	}
	for i, it := range items {
		if it.reserved != nil {
			continue
		}
		err := r.overBudget()
		for _, m := range it.Members {
			var sent func(int64)
			if err == nil {
				if sent, err = r.client.Reserve(m.Size); err == nil {
					it.reserved = append(it.reserved, sent)
				}
			}
		}
		if err != nil {
			it.release()
			r.mu.Lock()
			r.refused = err
			r.mu.Unlock()
			return items[:i]
		}
	}
	return items
}

// release returns the unsent part of an item's reservation.
func (it *item) release() {
	for i, sent := range it.reserved {
		sent(it.Members[i].Size)
	}
	it.reserved = nil
}

// overBudget returns the error of the first file beyond the budget.
func (r *run) overBudget() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}
