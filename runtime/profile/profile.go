// Package profile adds up where the time of a run goes: in Lua, waiting for the
// platform, sending bytes, sleeping, waiting for other tasks.
//
// Run runs a job with a Recorder as the observer of its interpreter (vm.Observer): a
// Track for each task records when the task runs and what it waits for, Requests
// records the requests of connections. WritePprof and WritePage write what was
// recorded, Lines and Operations add it up. Begin reading with Track.
package profile

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"transect/runtime/vm"
)

// Kind is a kind of time that a task spends.
type Kind uint8

// A task that waits for the platform is Sending while bytes of a request leave.
const (
	Lua Kind = iota
	Platform
	Sending
	Sleeping
	Tasks // waiting for other tasks
	Other // files, programs, other servers

	kinds = int(Other) + 1
)

// Names are the names of the kinds, in their order.
var Names = [kinds]string{"Lua", "platform", "sending", "sleeping", "tasks", "other"}

// Spent is time by kind.
type Spent [kinds]time.Duration

// Sum returns the total time.
func (s Spent) Sum() (sum time.Duration) {
	for _, d := range s {
		sum += d
	}
	return sum
}

func (s *Spent) add(o Spent) {
	for i, d := range o {
		s[i] += d
	}
}

// place returns the line of a frame, "file:12"; "" for an operation, which has a name alone.
func place(f vm.CallFrame) string {
	if f.File == "" {
		return ""
	}
	return f.File + ":" + strconv.Itoa(f.Line)
}

// label returns the function of a frame with its line.
func label(f vm.CallFrame) string {
	if f.File == "" {
		return f.Function
	}
	return f.Function + " " + place(f)
}

// node is a place in the tree of calls with the time spent there, not below.
type node struct {
	frame vm.CallFrame
	below map[vm.CallFrame]*node
	spent Spent
	count int // waits
}

func (n *node) at(stack []vm.CallFrame) *node {
	for _, f := range stack {
		next := n.below[f]
		if next == nil {
			next = &node{frame: f}
			if n.below == nil {
				n.below = map[vm.CallFrame]*node{}
			}
			n.below[f] = next
		}
		n = next
	}
	return n
}

// visit calls f for each node with the stack that leads to it, outermost first.
func (n *node) visit(stack []vm.CallFrame, f func(stack []vm.CallFrame, n *node)) {
	f(stack, n)
	for _, below := range n.below {
		below.visit(append(stack[:len(stack):len(stack)], below.frame), f)
	}
}

// Recorder records one run. It is safe for concurrent use.
type Recorder struct {
	Began time.Time

	due  atomic.Int64 // when a sample was requested, in nanoseconds of the run; 0 for none
	over chan struct{}

	mu       sync.Mutex
	took     time.Duration // 0 until Stop
	root     node
	tracks   []*Track
	waits    spans[*Wait]
	requests spans[*Request]
}

// period is how often samples are taken of tasks that run Lua. It varies by half, so
// that what repeats in a script does not keep step with it.
const period = time.Millisecond

// New begins to record.
func New() *Recorder {
	r := &Recorder{Began: time.Now(), over: make(chan struct{})}
	go r.ask()
	return r
}

func (r *Recorder) ask() {
	for {
		select {
		case <-time.After(period/2 + rand.N(period)):
			r.due.CompareAndSwap(0, int64(r.now()))
		case <-r.over:
			return
		}
	}
}

func (r *Recorder) now() time.Duration { return time.Since(r.Began) }

// Stop ends recording. What tasks have left open ends here.
func (r *Recorder) Stop() {
	close(r.over)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = r.now()
}

// Due reports whether a sample was requested, and how long ago.
func (r *Recorder) Due() (late time.Duration, due bool) {
	requested := r.due.Load()
	if requested == 0 {
		return 0, false
	}
	return r.now() - time.Duration(requested), true
}

// MarshalJSON writes seconds, without the kinds that took none.
func (s Spent) MarshalJSON() ([]byte, error) {
	named := map[string]float64{}
	for i, d := range s {
		if d > 0 {
			named[Names[i]] = d.Seconds()
		}
	}
	return json.Marshal(named)
}
