package ingest

import (
	"maps"
	"slices"
)

// maxAhead is how many items may wait for one that is scanned before them and
// inspected longer, on a slow disk for instance. Then it loses its turn.
const maxAhead = 2000

// turn is an item that was inspected; it is nil for one that ends there, or whose
// inspection takes long: that one comes when it is ready.
type turn struct {
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

// add takes a turn and returns the items whose turn it is.
func (s *sequence) add(t turn) (ready []*item) {
	if t.order < s.next { // it lost its turn
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
