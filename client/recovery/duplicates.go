package recovery

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// WriteStats counts the writes of a run's start, and remembers the ones to search for again at its end.
type WriteStats struct {
	Sent, Taken, Adopted, Again, Refused, Unknown, Doubled atomic.Int64

	mu     sync.Mutex
	resent []*attempt
}

// Counts are the writes of a start, for reports.
type Counts struct {
	Sent      int64 `json:"sent"`
	Taken     int64 `json:"taken"`   // from the ledger
	Adopted   int64 `json:"adopted"` // found on the platform after their answer was lost
	SentAgain int64 `json:"sent_again"`
	Refused   int64 `json:"refused"`
	Open      int64 `json:"open"`                    // their outcome is unknown at the end
	Doubled   int64 `json:"doubled,omitempty"`       // sent again, and the lost request arrived after all
	Unused    int64 `json:"not_asked_for,omitempty"` // noted by an earlier start
}

// Counts reads the counters.
func (s *WriteStats) Counts() Counts {
	return Counts{Sent: s.Sent.Load(), Taken: s.Taken.Load(), Adopted: s.Adopted.Load(),
		SentAgain: s.Again.Load(), Refused: s.Refused.Load(), Doubled: s.Doubled.Load()}
}

func (s *WriteStats) remember(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resent = append(s.resent, a)
}

// Duplicate is a write that was done twice: the platform did not have its result when it was sent again, and
// the lost request arrived later.
type Duplicate struct {
	Write     uint32
	Operation string
	IDs       []string // used by the run
	Others    []string // the other ones
}

// Duplicates searches again for the results of writes that were sent again, and records which were done
// twice. Call it after the last write of a run.
func (s *WriteStats) Duplicates(ctx context.Context) (all []Duplicate, err error) {
	s.mu.Lock()
	resent := s.resent
	s.resent = nil
	s.mu.Unlock()
	for _, a := range resent {
		found, err := a.find(ctx)
		if err != nil {
			return all, err
		}
		others := slices.DeleteFunc(idsOf(slices.Concat(found.of, found.more)), func(id string) bool { return id == "" })
		own, open := a.madeIDs, a.ledger.OpenOf(a.id)
		switch deleted := a.findDeleted(); {
		case len(own) == 0:
			open++ // its answer had no id: one of them is its own
		case a.spec.Siblings().Op("find_or_create") != nil &&
			!slices.ContainsFunc(own, func(id string) bool { return !deleted[id] }):
			continue // of twins the run has deleted its own, and uses another
		}
		if len(others) <= open {
			continue
		}
		if err := a.ledger.Doubled(a.row.Seq, others); err != nil {
			return all, err
		}
		s.Doubled.Add(1)
		all = append(all, Duplicate{Write: a.row.Seq, Operation: a.spec.FullName(), IDs: own, Others: others})
	}
	return all, nil
}
