package ingest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPlaces holds places against a list that is searched from end to end.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few hashes, some alike in their upper half.
		hash := rapid.Custom(func(t *rapid.T) uint64 {
			return uint64(rapid.SampledFrom([]uint32{0, 1, 7, 1 << 31, ^uint32(0)}).Draw(t, "upper"))<<32 | uint64(rapid.Uint32Range(0, 2).Draw(t, "lower"))
		})
		hashes := rapid.SliceOfN(hash, 0, 60).Draw(t, "hashes")
		var p places
		for i, h := range hashes {
			p.add(h, i)
		}
		p.sort()
		for _, h := range append(hashes, hash.Draw(t, "another")) {
			var want []int
			for i, other := range hashes {
				if other>>32 == h>>32 {
					want = append(want, i)
				}
			}
			if got := slices.Collect(p.all(h)); !slices.Equal(got, want) {
				t.Fatalf("%x: %v, want %v", h, got, want)
			}
		}
	})
}
