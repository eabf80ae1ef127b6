package ingest

import "slices"

// keySet holds the short keys of a run: a million in some ten megabytes, a
// third of what a map takes. The zero value is ready for use.
type keySet struct{ buckets [4096][]uint64 }

// add takes a key in; false when it was there.
func (s *keySet) add(key uint64) bool {
	bucket := &s.buckets[key>>52] // keys are hashes: all buckets fill alike
	at, there := slices.BinarySearch(*bucket, key)
	if there {
		return false
	}
	if n := len(*bucket); n == cap(*bucket) {
		*bucket = append(make([]uint64, 0, n+n/8+4), *bucket...)
	}
	*bucket = slices.Insert(*bucket, at, key)
	return true
}
