package ingest

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestKeySet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s keySet
		known := map[uint64]bool{}
		for _, key := range rapid.SliceOf(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 40))).Draw(t, "keys") {
			if s.add(fmt.Sprintf("%016x%016x", key, 7)) == known[key] {
				t.Fatalf("%d is new: %v", key, !known[key])
			}
			known[key] = true
		}
	})
}
