package profile

import (
	"context"
	"slices"
	"time"
)

// Track is a task of a run. At any time it runs Lua, or waits for something; the
// times add up to its own. Its methods need the lock of the interpreter, unless they
// say otherwise; those of a nil Track do nothing.
type Track struct {
	Name       string
	Start, End time.Duration
	Spent      Spent

	r       *Recorder
	number  int
	since   time.Duration // when it began to run
	pending time.Duration // run since the last sample
	last    *node         // of the last sample
	waited  *node         // what it waited for, until it runs

	open    *Wait         // what it waits for
	senders int           // requests whose bodies leave
	sending time.Duration // when open.sent was last brought up to date
}

// Track begins the track of a task that runs a function, and waits for its first turn.
func (r *Recorder) Track(function Frame) *Track {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &Track{Name: function.label(), r: r, number: len(r.tracks), Start: r.now(), last: r.root.at([]Frame{function})}
	t.since, t.waited = t.Start, t.last
	r.tracks = append(r.tracks, t)
	return t
}

// Run says that the task has got its turn, and waited for the others until now.
func (t *Track) Run() {
	if t == nil {
		return
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	now := t.r.now()
	at := t.waited
	if at == nil {
		at = t.last
	}
	t.spend(at, Tasks, now-t.since)
	t.since, t.waited = now, nil
	t.r.asked.Store(0) // the time of this task is sampled, not that of the others
}

// Pause says that the task gives up its turn.
func (t *Track) Pause() {
	if t == nil {
		return
	}
	now := t.r.now()
	t.pending += now - t.since
	t.since = now
}

// Sample says what the task runs. The time since its last sample goes there.
func (t *Track) Sample(stack []Frame) {
	t.Pause()
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.last = t.r.root.at(stack)
	t.flush()
	t.r.asked.Store(0)
}

func (t *Track) flush() {
	t.spend(t.last, Lua, t.pending)
	t.pending = 0
}

func (t *Track) spend(at *node, kind Kind, d time.Duration) {
	t.Spent[kind] += d
	at.spent[kind] += d
}

// Finish ends the track of a task that runs.
func (t *Track) Finish() {
	if t == nil {
		return
	}
	t.Pause()
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.flush()
	t.End = t.since
}

// Wait is one thing that a task waits for.
type Wait struct {
	Task   int           `json:"task"`
	Name   string        `json:"name"`
	Line   string        `json:"line,omitempty"` // file:12
	Kind   Kind          `json:"kind"`
	Start  time.Duration `json:"start"`
	Length time.Duration `json:"length"`

	track *Track
	at    *node
	sent  time.Duration // of Length, while bytes of requests left
}

func (w *Wait) took() time.Duration { return w.Length }

// Wait says that the task gives up its turn to wait for name, at the end of a stack.
// End ends the wait, Run is called when the task has got its next turn. The wait may
// be nil.
func (t *Track) Wait(stack []Frame, name string, kind Kind) *Wait {
	if t == nil {
		return nil
	}
	t.Pause()
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	w := &Wait{Task: t.number, Name: name, Kind: kind, Start: t.since, track: t}
	if len(stack) > 0 {
		w.Line = stack[len(stack)-1].Place()
		if t.last.frame.Line == 0 { // there was no sample yet
			t.last = t.r.root.at(stack)
		}
	}
	if name != "" {
		stack = append(stack, Frame{Function: name})
	}
	w.at = t.r.root.at(stack)
	w.at.count++
	t.waited, t.open, t.sending = w.at, w, t.since
	return w
}

// End ends what a task waits for. The lock of the interpreter is not needed.
func (w *Wait) End() {
	if w == nil {
		return
	}
	t := w.track
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.send(0)
	w.Length = t.r.now() - w.Start
	t.spend(w.at, Sending, w.sent)
	t.spend(w.at, w.Kind, w.Length-w.sent)
	t.since, t.open = w.Start+w.Length, nil
	t.r.waits.add(w)
}

// send counts the requests of the task whose bodies leave.
func (t *Track) send(delta int) {
	now := t.r.now()
	if t.open != nil && t.senders > 0 {
		t.open.sent += now - t.sending
	}
	t.sending = now
	t.senders += delta
}

type trackKey struct{}

// In returns a context whose requests belong to the task.
func (t *Track) In(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, trackKey{}, t)
}

// spans keeps what the timeline shows. When there are too many, the short ones go.
type spans[T interface{ took() time.Duration }] struct {
	kept    []T
	least   time.Duration
	dropped int
}

const maxSpans = 5000

func (s *spans[T]) add(one T) {
	if one.took() < s.least {
		s.dropped++
		return
	}
	s.kept = append(s.kept, one)
	for len(s.kept) > maxSpans {
		s.least = max(2*s.least, time.Microsecond)
		before := len(s.kept)
		s.kept = slices.DeleteFunc(s.kept, func(one T) bool { return one.took() < s.least })
		s.dropped += before - len(s.kept)
	}
}
