package ingest

import (
	"maps"
	"slices"
)

// maxAhead is how many items may wait for one that is scanned before them and
// inspected longer, on a slow disk for instance. Then they go before it.
const maxAhead = 2000

// sequencedItem is an inspected item with its place in the scan. The item is nil
// when it ends there, or when its inspection takes long: then it follows later.
type sequencedItem struct {
	order int
	item  *item
}

// sequence puts items that are inspected at the same time back into the order of
// the scan.
type sequence struct {
	next    int
	waiting map[int]*item
}

func newSequence() *sequence { return &sequence{waiting: map[int]*item{}} }

// add takes an item and returns those that follow next in the order of the scan.
func (s *sequence) add(t sequencedItem) (ready []*item) {
	if t.order < s.next { // others went before it
		if t.item != nil {
			ready = append(ready, t.item)
		}
		return ready
	}
	s.waiting[t.order] = t.item
	for len(s.waiting) > 0 {
		it, here := s.waiting[s.next]
		if !here && len(s.waiting) <= maxAhead {
			break
		}
		delete(s.waiting, s.next)
		if s.next++; it != nil {
			ready = append(ready, it)
		}
	}
	return ready
}

// rest returns the items that still wait, in order.
func (s *sequence) rest() (ready []*item) {
	for _, n := range slices.Sorted(maps.Keys(s.waiting)) {
		if it := s.waiting[n]; it != nil {
			ready = append(ready, it)
		}
	}
	return ready
}
