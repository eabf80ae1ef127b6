package ingest

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"transect/client"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/preflight"
	"transect/client/reconcile"
	"transect/client/scan"
)

// Under a budget of bytes nothing is created or sent before all files were
// inspected, and nothing at all when they are too much. An iterator, which may
// have no end, is not gathered: its files go while they fit. The bytes of a file
// are reserved before its dataset is created: a budget that is used up leaves no
// empty dataset behind.

// gathers reports whether the run knows all files before it creates anything.
func (r *run) gathers() bool {
	_, limited := r.client.Room()
	return limited && r.options.Items == nil && !r.options.DryRun
}

// fits refuses all items of the run when they are more than the budget leaves.
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

// unsent is how many bytes of an item are not in a dataset that was created for it.
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
			missing = 0 // it fails when it is sent
		}
		n += missing
	}
	return n
}

// fits compares what is to be sent with what the budget leaves.
func fits(c *client.Client, files int, bytes int64) error {
	room, limited := c.Room()
	if !limited || bytes <= room {
		return nil
	}
	sent, err := c.Reserve(bytes)
	if err == nil { // room was made meanwhile
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
		"%sor send fewer files at a time; what is sent again after a failure counts, too", hint)
}

// Fits refuses files that are more than the budget of the client leaves, before
// anything is made for them. Files that a run would leave out do not count.
func Fits(ctx context.Context, c *client.Client, o Options) error {
	if _, limited := c.Room(); !limited || c.Rehearses() {
		return nil
	}
	o.Project = cmp.Or(o.Project, "none") // it may not exist yet
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

// reserve returns the items that the budget allows. After the first that it does
// not the run sends no further one, and ends with that error when those before
// it are done.
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

// release gives back what was reserved for an item and not sent.
func (it *item) release() {
	for i, sent := range it.reserved {
		sent(it.Members[i].Size)
	}
	it.reserved = nil
}

// overBudget is the error of the first file that the budget does not allow.
func (r *run) overBudget() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}
