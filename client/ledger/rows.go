package ledger

import (
	"encoding/binary"
	"fmt"
)

// row is a write in memory: 48 bytes, since there may be a million.
type row struct {
	print  Fingerprint
	intent int64  // offset in the file
	result int64  // 0 for none
	next   uint32 // Seq of the next one with this fingerprint, or 0
	task   uint32 // the task that last sent it, shortened
	state  State
	taken  bool // by a call of this start
	busy   bool // a call is working on it
	step   bool // of a composed operation
	resent bool // it was sent more than once
}

// table holds the rows of a run by Seq and by fingerprint.
type table struct {
	n      uint32
	chunks [][]row
	// index holds the Seq of the first row with a fingerprint, in the first free slot from the fingerprint's;
	// at most half of it is in use.
	index    []uint32
	distinct int
	last     map[Fingerprint]uint32 // Seq of the last row with a fingerprint, if there are several
}

const chunk = 256 // rows

func (t *table) row(seq uint32) *row { return &t.chunks[(seq-1)/chunk][(seq-1)%chunk] }

// slot returns the index slot of a fingerprint, or the free one where it belongs.
func (t *table) slot(print Fingerprint) *uint32 {
	mask := uint64(len(t.index) - 1)
	for at := binary.LittleEndian.Uint64(print[:]) & mask; ; at = (at + 1) & mask {
		if s := &t.index[at]; *s == 0 || t.row(*s).print == print {
			return s
		}
	}
}

// first returns the Seq of the first row with a fingerprint, or 0.
func (t *table) first(print Fingerprint) uint32 {
	if len(t.index) == 0 {
		return 0
	}
	return *t.slot(print)
}

// grow keeps half of the index free.
func (t *table) grow() {
	if 2*(t.distinct+1) <= len(t.index) {
		return
	}
	old := t.index
	t.index = make([]uint32, max(chunk, 2*len(old)))
	for _, seq := range old {
		if seq != 0 {
			*t.slot(t.row(seq).print) = seq
		}
	}
}

func (t *table) intend(at int64, i *Intent) error {
	switch {
	case i.Seq == 0 || i.Seq > t.n+1:
		return fmt.Errorf("write %d follows write %d", i.Seq, t.n)
	case i.Seq <= t.n: // sent again
		r := t.row(i.Seq)
		r.intent, r.task, r.state, r.resent = at, uint32(i.Task), Open, true
		return nil
	}
	if t.n%chunk == 0 {
		t.chunks = append(t.chunks, make([]row, chunk))
	}
	t.n++
	*t.row(t.n) = row{print: i.Print, intent: at, task: uint32(i.Task), step: i.Parent != 0}
	t.grow()
	first := t.slot(i.Print)
	if *first == 0 {
		*first = i.Seq
		t.distinct++
		return nil
	}
	end, several := t.last[i.Print]
	if !several {
		end = *first
	}
	if t.last == nil {
		t.last = map[Fingerprint]uint32{}
	}
	t.row(end).next, t.last[i.Print] = i.Seq, i.Seq
	return nil
}
