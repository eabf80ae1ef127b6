package ingest

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSequence(t *testing.T) {
	t.Parallel()
	var turns []sequencedItem
	var want []int
	for n := range 1000 {
		it := &item{order: n}
		if n%3 == 0 {
			it = nil // finished by the inspection
		} else {
			want = append(want, n)
		}
		turns = append(turns, sequencedItem{n, it})
	}
	rand.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	s := newSequence()
	var got []int
	for _, turn := range turns {
		for _, it := range s.add(turn) {
			got = append(got, it.order)
		}
	}
	if !slices.Equal(got, want) || len(s.rest()) > 0 {
		t.Errorf("got %v", got)
	}
}

// TestSequenceIsBounded: a slow item delays others only within bounds, and follows later.
func TestSequenceIsBounded(t *testing.T) {
	t.Parallel()
	s, passed := newSequence(), 0
	for n := 1; n <= maxAhead+1; n++ {
		passed += len(s.add(sequencedItem{n, &item{order: n}}))
	}
	if passed != maxAhead+1 {
		t.Errorf("%d items passed", passed)
	}
	if late := s.add(sequencedItem{0, &item{}}); len(late) != 1 {
		t.Errorf("the late item: %v", late)
	}
}
