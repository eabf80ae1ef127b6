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

// transferWatchers pass on how many bytes transfers move. Safe for concurrent use.
type transferWatchers struct {
	mu       sync.Mutex
	watchers map[*func(delta int64)]struct{}
}

// Transferred reports bytes that a transfer moved; negative when they must be
// sent again.
func (in *Interp) Transferred(delta int64) {
	in.transfers.mu.Lock()
	defer in.transfers.mu.Unlock()
	for watch := range in.transfers.watchers {
		(*watch)(delta)
	}
}

// WatchTransfers calls watch with what transfers report, until stop is called.
func (in *Interp) WatchTransfers(watch func(delta int64)) (stop func()) {
	t := &in.transfers
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == nil {
		t.watchers = map[*func(int64)]struct{}{}
	}
	t.watchers[&watch] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watchers, &watch)
	}
}
