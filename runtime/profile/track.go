package profile

import (
	"context"
	"slices"
	"time"

	"transect/runtime/vm"
)

// Track is a task of a run. At any time it runs Lua, or waits for something; the
// times add up to its own. Its methods need the lock of the interpreter, unless they
// say otherwise.
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
func (r *Recorder) Track(function vm.CallFrame) vm.Track {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &Track{Name: label(function), r: r, number: len(r.tracks), Start: r.now()}
	t.last = r.root.at([]vm.CallFrame{function})
	t.since, t.waited = t.Start, t.last
	r.tracks = append(r.tracks, t)
	return t
}

// Run records that the task has got its turn, and waited for the others until now.
func (t *Track) Run() {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	now := t.r.now()
	at := t.waited
	if at == nil {
		at = t.last
	}
	t.spend(at, Tasks, now-t.since)
	t.since, t.waited = now, nil
	t.r.due.Store(0) // only this task's time is sampled
}

// Pause records that the task gives up its turn.
func (t *Track) Pause() {
	now := t.r.now()
	t.pending += now - t.since
	t.since = now
}

// Sample charges the time since the task's last sample to the stack it runs.
func (t *Track) Sample(stack []vm.CallFrame) {
	t.Pause()
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.last = t.r.root.at(stack)
	t.flush()
	t.r.due.Store(0)
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

// kindOf is the kind of time of a wait.
var kindOf = [...]Kind{vm.ForOther: Other, vm.ForPlatform: Platform, vm.ForTasks: Tasks, vm.ForTime: Sleeping}

// Wait records that the task gives up its turn to wait, at the end of a stack. end ends the
// wait, Run is called when the task has got its next turn.
func (t *Track) Wait(stack []vm.CallFrame, on vm.Waiting) (end func()) {
	t.Pause()
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	w := &Wait{Task: t.number, Name: on.Name, Kind: kindOf[on.Kind], Start: t.since, track: t}
	if len(stack) > 0 {
		w.Line = place(stack[len(stack)-1])
		if t.last.frame.Line == 0 { // there was no sample yet
			t.last = t.r.root.at(stack)
		}
	}
	if on.Name != "" {
		stack = append(stack, vm.CallFrame{Function: on.Name})
	}
	w.at = t.r.root.at(stack)
	w.at.count++
	t.waited, t.open, t.sending = w.at, w, t.since
	return w.end
}

// end ends what a task waits for. The lock of the interpreter is not needed.
func (w *Wait) end() {
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
