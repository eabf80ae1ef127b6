package ingest

import (
	"iter"
	"slices"
)

// places finds records by a hash: of a million in 8 megabytes. A place is the
// upper half of the hash, and below it the number of the record. So others may
// be found as well: the records have the whole hash.
type places []uint64

func (p *places) add(hash uint64, record int) {
	if n := len(*p); n == cap(*p) && n > 0 {
		*p = slices.Grow(*p, n/8+1) // append would take more than is needed
	}
	*p = append(*p, hash>>32<<32|uint64(record))
}

// sort makes the places ready to be looked up.
func (p places) sort() { slices.Sort(p) }

// all gives the records, in their order, whose hash may be this one.
func (p places) all(hash uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		at, _ := slices.BinarySearch(p, hash>>32<<32)
		for ; at < len(p) && p[at]>>32 == hash>>32; at++ {
			if !yield(int(uint32(p[at]))) {
				return
			}
		}
	}
}
