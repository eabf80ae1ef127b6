package recovery

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"transect/client/declare"
)

// Tally counts the writes of a run's start, and remembers those to look at once
// more at its end.
type Tally struct {
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

// Counts reads the tally.
func (t *Tally) Counts() Counts {
	return Counts{Sent: t.Sent.Load(), Taken: t.Taken.Load(), Adopted: t.Adopted.Load(), SentAgain: t.Again.Load(), Refused: t.Refused.Load(),
		Doubled: t.Doubled.Load()}
}

func (t *Tally) remember(a *attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.resent = append(t.resent, a)
}

// Double is a write that was done twice: the platform held nothing of it when it
// was sent again, and the lost request arrived later.
type Double struct {
	Write     uint32
	Operation string
	IDs       []string // what the run goes on with
	Others    []string // what else is there
}

// Doubles looks once more for what the writes that were sent again have made, and
// notes which were done twice. It is called after the last write of a run.
func (t *Tally) Doubles(ctx context.Context) (all []Double, err error) {
	t.mu.Lock()
	resent := t.resent
	t.resent = nil
	t.mu.Unlock()
	for _, a := range resent {
		found, err := a.find(ctx)
		if err != nil {
			return all, err
		}
		others := slices.DeleteFunc(idsOf(slices.Concat(found.of, found.more)), func(id string) bool { return id == "" })
		own, open := a.made, a.ledg.OpenOf(a.id)
		if len(own) == 0 {
			open++ // its answer held no id: one of them is its own
		}
		if len(others) <= open {
			continue
		}
		if err := a.ledg.Doubled(a.row.Seq, others); err != nil {
			return all, err
		}
		t.Doubled.Add(1)
		all = append(all, Double{Write: a.row.Seq, Operation: a.call.Spec.FullName(), IDs: own, Others: others})
	}
	return all, nil
}

// searched reports whether a search finds what the call makes.
func (a *attempt) searched() bool {
	switch a.call.Spec.Lost.Rule {
	case declare.Adopt, declare.List, declare.Mark, declare.Key:
		return true
	case declare.Ask:
		return len(a.call.Spec.Lost.Keys) > 0
	}
	return false
}
