package ingest

import (
	"testing"
	"time"
)

// TestSentLeavesPausesOut: the rate of an upload covers only the time in which bytes moved: a night
// without network does not lower it.
func TestSentLeavesPausesOut(t *testing.T) {
	var s Sent
	at := time.Now()
	for _, wait := range []time.Duration{0, time.Second, 2 * time.Second, 8 * time.Hour, time.Second} {
		at = at.Add(wait)
		s.add(1000, at)
	}
	s.add(-500, at.Add(-time.Minute)) // taken back by a clock that was set
	if s.Load() != 4500 || s.Moving() != 4*time.Second+pause {
		t.Errorf("%d bytes moved for %s", s.Load(), s.Moving())
	}
}
