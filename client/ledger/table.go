package ledger

import (
	"fmt"
	"strings"
	"time"

	"transect/client/fault"
)

func (t *table) resolve(at int64, r *Result) error {
	if r.Seq == 0 || r.Seq > t.n {
		return fmt.Errorf("there is a result of write %d, but no such write", r.Seq)
	}
	row := t.row(r.Seq)
	row.state, row.result = r.State, at
	return nil
}

// free returns the row for a call with a fingerprint: the first that no call has taken, its own task's before
// others'; 0 when there is none.
func (t *table) free(print Fingerprint, task uint64) (seq uint32) {
	for s := t.first(print); s != 0; s = t.row(s).next {
		r := t.row(s)
		if r.taken || r.busy || r.state == Refused {
			continue
		}
		if r.task == uint32(task) {
			return s
		}
		if seq == 0 {
			seq = s
		}
	}
	return seq
}

// Write is a write that a call is about to make.
type Write struct {
	Op     string
	Print  Fingerprint
	Parent uint32
	Task   uint64
	Since  time.Time
	Fresh  bool // ignore rows noted before
}

// Row is a write taken by a call. The call ends it with Resolve or Leave.
type Row struct {
	Seq    uint32
	State  State     // as noted before; never Refused
	New    bool      // not noted before
	Resent bool      // it was sent more than once
	Since  time.Time // the earliest time it may have been done
	Start  uint32    // number of the start that last sent it
	Result *Result   // nil for an open one

	ledger *Ledger
	write  Write
}

// Take returns the row for a call: one noted before that no call of this start has taken, else a new one,
// whose intent is recorded when Take returns. It fails when the intent was not accepted: then nothing may be
// sent.
func (l *Ledger) Take(w Write) (*Row, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seq := uint32(0)
	if !w.Fresh {
		seq = l.table.free(w.Print, w.Task)
	}
	if seq == 0 {
		seq = l.table.n + 1
		if err := l.add(w.intent(seq, uint32(len(l.starts)))); err != nil {
			return nil, err
		}
		l.table.row(seq).busy = true // before others may look it up
		if err := l.accepted(); err != nil {
			return nil, err
		}
		return &Row{Seq: seq, New: true, Since: w.Since, Start: uint32(len(l.starts)), ledger: l, write: w}, nil
	}
	return l.noted(seq, w)
}

// Peek is like Take in a dry run: it records nothing, and returns nil for a write without a row.
func (l *Ledger) Peek(w Write) (*Row, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seq := l.table.free(w.Print, w.Task)
	if seq == 0 || w.Fresh {
		return nil, nil
	}
	return l.noted(seq, w)
}

// noted returns a noted row for a call.
func (l *Ledger) noted(seq uint32, w Write) (*Row, error) {
	r := l.table.row(seq)
	taken := &Row{Seq: seq, State: r.state, Resent: r.resent, ledger: l, write: w}
	intent, err := l.intent(r)
	if err != nil {
		return nil, err
	}
	taken.Since, taken.Start = intent.Since, intent.Start
	if r.state != Open && r.state != Partial {
		if taken.Result, err = l.result(r); err != nil {
			return nil, err
		}
		r.taken = true
		return taken, nil
	}
	r.busy = true
	return taken, nil
}

func (w Write) intent(seq, start uint32) *Intent {
	return &Intent{Seq: seq, Parent: w.Parent, Op: w.Op, Print: w.Print, Task: w.Task, Since: w.Since, Start: start}
}

// Again records that an open write is sent again.
func (r *Row) Again(since time.Time) error {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	again := r.write.intent(r.Seq, uint32(len(r.ledger.starts)))
	again.Since = since
	return r.ledger.note(again)
}

// Resolve records the outcome of the write.
func (r *Row) Resolve(state State, ids []string, answers [][]byte) error {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	return r.resolve(state, ids, answers)
}

func (r *Row) resolve(state State, ids []string, answers [][]byte) error {
	l := r.ledger
	noted := l.table.row(r.Seq)
	noted.busy, noted.taken = false, state != Refused && state != Partial
	size := 0
	for _, a := range answers {
		size += len(a)
	}
	if size > maxAnswer {
		answers = nil
	}
	return l.note(&Result{Seq: r.Seq, State: state, IDs: ids, Answers: answers})
}

// maxAnswer limits the answers stored for one write, in bytes; larger ones are read from the platform when
// they are needed again.
const maxAnswer = 1 << 20

// Doubled records that a write was done twice, and what the other request made.
func (l *Ledger) Doubled(seq uint32, others []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	result, err := l.result(l.table.row(seq))
	if err != nil {
		return err
	}
	if err := l.note(&keptRecord{doublesOf(seq), []byte(strings.Join(others, " "))}); err != nil {
		return err
	}
	result.State = Doubled
	return l.note(result)
}

// Duplicates returns the ids made by the other request of a write that was done twice.
func (l *Ledger) Duplicates(seq uint32) []string {
	return strings.Fields(string(l.Kept(doublesOf(seq))))
}

const doublesPrefix = "doubles "

func doublesOf(seq uint32) string { return fmt.Sprint(doublesPrefix, seq) }

// Leave releases the row, open: the outcome of the write is unknown.
func (r *Row) Leave() {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	r.ledger.table.row(r.Seq).busy = false
}

func (l *Ledger) intent(r *row) (*Intent, error) {
	return read[*Intent](l, r.intent)
}

func (l *Ledger) result(r *row) (*Result, error) {
	return read[*Result](l, r.result)
}

func (l *Ledger) unreadable(err error) error {
	return fault.Of(&fault.FileError{}, "the ledger %s cannot be read: %w", l.path, err)
}

// read reads one record from the file.
func read[R record](l *Ledger, at int64) (R, error) {
	var none R
	r, _, err := newWindow(l.file, at, l.size, 4<<10).record()
	if err != nil {
		return none, l.unreadable(err)
	}
	found, ok := r.(R)
	if !ok {
		return none, fault.Of(&fault.FileError{}, "the ledger %s cannot be read: byte %d holds a record of another kind",
			l.path, at)
	}
	return found, nil
}

// All calls each with every write of the run in order, and its result, nil for an open one.
func (l *Ledger) All(each func(Intent, *Result) error) error {
	l.mu.Lock()
	n := l.table.n
	l.mu.Unlock()
	for seq := uint32(1); seq <= n; seq++ {
		l.mu.Lock()
		r := *l.table.row(seq)
		intent, err := l.intent(&r)
		var result *Result
		if err == nil && r.state != Open {
			result, err = l.result(&r)
		}
		l.mu.Unlock()
		if err != nil {
			return err
		}
		if err := each(*intent, result); err != nil {
			return err
		}
	}
	return nil
}

// Steps returns the states of the steps of a composed operation.
func (l *Ledger) Steps(of uint32) (states []State, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for seq := of + 1; seq <= l.table.n; seq++ {
		r := l.table.row(seq)
		if !r.step {
			continue
		}
		intent, err := l.intent(r)
		if err != nil {
			return nil, err
		}
		if intent.Parent == of {
			states = append(states, r.state)
		}
	}
	return states, nil
}

// OpenOf counts the open writes with a fingerprint.
func (l *Ledger) OpenOf(print Fingerprint) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := l.table.first(print); s != 0; s = l.table.row(s).next {
		if r := l.table.row(s); r.state == Open {
			n++
		}
	}
	return n
}

// Unclaimed counts the writes of earlier starts that no call of this one took, and the open ones. Steps of
// composed operations do not count.
func (l *Ledger) Unclaimed() (unused, open int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for seq := uint32(1); seq <= l.table.n; seq++ {
		switch r := l.table.row(seq); {
		case r.step:
		case r.state == Open:
			open++
		case !r.taken && r.state != Refused && r.state != Partial:
			unused++
		}
	}
	return unused, open
}
