package vm

import "sync"

// itemCounter counts the items of a run, for its report. Safe for concurrent use.
type itemCounter struct {
	mu    sync.Mutex
	items Items
	fixed bool // by SetItems
}

// Items are how many pieces of work a run has done, as far as it reports them.
type Items struct {
	Done   int64 // finished, without the failed ones
	Failed int64
}

// CountItems adds to the items of the run.
func (in *Interp) CountItems(done, failed int64) {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	if !in.items.fixed {
		in.items.items.Done += done
		in.items.items.Failed += failed
	}
}

// SetItems overrides what was counted, and will be.
func (in *Interp) SetItems(items Items) {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	in.items.items, in.items.fixed = items, true
}

// Items returns what was counted so far.
func (in *Interp) Items() Items {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	return in.items.items
}

// Transferred reports bytes that a transfer moved; negative when they must be
// sent again.
func (in *Interp) Transferred(delta int64) {
	in.transfers.Range(func(watch, _ any) bool {
		(*watch.(*func(int64)))(delta)
		return true
	})
}

// WatchTransfers calls watch, from any goroutine, with what transfers report,
// until stop is called.
func (in *Interp) WatchTransfers(watch func(delta int64)) (stop func()) {
	in.transfers.Store(&watch, nil)
	return func() { in.transfers.Delete(&watch) }
}
