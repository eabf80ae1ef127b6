package ingest

import (
	"maps"
	"slices"
)

// maxAhead is how many items may wait for one that was scanned before them but takes longer to
// inspect, as on a slow disk. Beyond it they overtake.
const maxAhead = 2000

// sequencedItem is an inspected item with its place in the scan. A nil item is finished, or its
// inspection takes long and it follows later.
type sequencedItem struct {
	order int
	item  *item
}

// sequence restores the order of the scan for items inspected concurrently.
type sequence struct {
	next    int
	waiting map[int]*item
}

func newSequence() *sequence { return &sequence{waiting: map[int]*item{}} }

// add takes an item and returns those that are next in the order of the scan.
func (s *sequence) add(t sequencedItem) (ready []*item) {
	if t.order < s.next { // others overtook it
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

// rest returns the items still waiting, in order.
func (s *sequence) rest() (ready []*item) {
	for _, n := range slices.Sorted(maps.Keys(s.waiting)) {
		if it := s.waiting[n]; it != nil {
			ready = append(ready, it)
		}
	}
	return ready
}
