package vm

import "sync"

// tally counts the items of a run, for its report. Any goroutine may use it.
type tally struct {
	mu    sync.Mutex
	items Items
	said  bool
}

// Items are how many pieces of work a run has done, as far as it says so.
type Items struct {
	Done   int64 // finished, failed ones not included
	Failed int64
}

// CountItems adds to the items of the run.
func (in *Interp) CountItems(done, failed int64) {
	t := &in.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.said {
		t.items.Done += done
		t.items.Failed += failed
	}
}

// SetItems says how many items there were, whatever was counted.
func (in *Interp) SetItems(items Items) {
	t := &in.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items, t.said = items, true
}

// Items is what was counted so far.
func (in *Interp) Items() Items {
	t := &in.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.items
}
