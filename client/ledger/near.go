package ledger

import "slices"

// How far Near searches: it is for the few writes in which a further start of a
// run differs from an earlier one, and must not slow down a script that has little
// in common with it.
const (
	nearRows = 64      // at a time
	nearAll  = 100_000 // in a start
)

// near is what Near knows of the writes of earlier starts.
type near struct {
	from uint32 // Seq of the first that may be free
	end  uint32 // of the last one
	left int    // how many more are read
}

// Knows reports whether a call with this write would take a row that was noted
// before.
func (l *Ledger) Knows(w Write) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.table.free(w.Print, w.Task) != 0
}

// Near finds a write of an earlier start that no call has taken and that is like w:
// the same operation, and arguments that agree but for one or two of those that may
// vary. It returns their positions in w.Leaves.
func (l *Ledger) Near(w Write, vary func(leaf int) bool) (like *Intent, differing []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := &l.near
	for ; n.from <= n.end; n.from++ {
		if r := l.table.row(n.from); !r.taken && r.state != Refused && !r.step {
			break
		}
	}
	read := 0
	for seq := n.from; seq <= n.end && read < nearRows && n.left > 0; seq++ {
		r := l.table.row(seq)
		if r.taken || r.busy || r.step || r.state == Refused {
			continue
		}
		read++
		n.left--
		noted, err := l.intent(r)
		if err != nil || noted.Op != w.Op || len(noted.Leaves) != len(w.Leaves) {
			continue // a ledger that cannot be read is told of elsewhere
		}
		if differing, ok := differ(noted.Leaves, w.Leaves, vary); ok {
			return noted, differing
		}
	}
	return nil, nil
}

// differ finds the leaves that are not among those noted.
func differ(noted, leaves []uint32, vary func(leaf int) bool) (differing []int, ok bool) {
	for i, leaf := range leaves {
		if slices.Contains(noted, leaf) {
			continue
		}
		if differing = append(differing, i); !vary(i) || len(differing) > 2 {
			return nil, false
		}
	}
	return differing, len(differing) > 0
}
