package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/link"
)

// stuckAfter is how long after its last try to renew the lease a worker counts as stuck: a try takes Times.Hold
// at most, and the end of a session before the first try of the next one 20 s.
const stuckAfter = time.Minute

// Counters count what a worker has done since its start, in all its sessions.
type Counters struct {
	started, takeovers, waits, sent, received atomic.Int64

	session atomic.Pointer[session] // the newest
	tried   atomic.Int64            // by link.Now: when it last tried to renew the lease; 0 before the first

	mu    sync.Mutex
	ended map[jobs.State]int64
}

// Status is a moment of a worker.
type Status struct {
	Stuck    error // nil while it renews its lease, or tries to
	Unready  error // nil while it may fetch jobs
	Slots    int   // 0 before it has registered
	Used     int   // of them
	Waiting  int64 // operations of the database that take longer than a try may
	Waits    int64 // such operations so far
	Started  int64 // attempts
	Ended    map[jobs.State]int64
	Taken    int64 // jobs queued again after the death of their worker
	Sent     int64 // bytes of files
	Received int64
}

// Status returns what the worker does now.
func (c *Counters) Status() Status {
	st := Status{Started: c.started.Load(), Taken: c.takeovers.Load(), Waits: c.waits.Load(), Sent: c.sent.Load(),
		Received: c.received.Load()}
	c.mu.Lock()
	st.Ended = maps.Clone(c.ended)
	c.mu.Unlock()
	if tried := c.tried.Load(); tried > 0 && link.Now()-time.Duration(tried) > stuckAfter {
		st.Stuck = errors.New("it has not tried to renew its lease for over " + stuckAfter.String())
	}
	s := c.session.Load()
	if s == nil {
		st.Unready = errors.New("it waits for the database")
		return st
	}
	st.Slots = s.w.o.Slots
	for _, a := range s.all() {
		st.Waiting += a.slowNow.Load()
		if !a.idle() {
			st.Used++
		}
	}
	select {
	case <-s.stopping:
		st.Unready = errors.New("it is stopping")
	default:
		if !s.lease.valid() {
			st.Unready = errors.New("it holds no lease: the database does not answer, or took it for dead")
		}
	}
	return st
}

// count makes a session the one whose status is told.
func (w *Worker) count(s *session) {
	w.o.Counters = cmp.Or(w.o.Counters, &Counters{})
	w.o.Counters.session.Store(s)
}

func (c *Counters) beat() { c.tried.Store(int64(link.Now())) }

// countWait counts an operation that takes long (why), or has come to its end (nil).
func (a *attempt) countWait(why error) {
	if why == nil {
		a.slowNow.Add(-1)
		return
	}
	a.slowNow.Add(1)
	a.s.w.o.Counters.waits.Add(1)
}

// countEnd counts the end of an attempt, if it started; failed is why it could not be recorded.
func (a *attempt) countEnd(e end, failed error) {
	if a.id == 0 {
		return
	}
	outcome, c := e.outcome, a.s.w.o.Counters
	if failed != nil {
		outcome = jobs.Lost
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.ended = map[jobs.State]int64{}
	}
	c.ended[outcome]++
}

// watchRecord counts the bytes that the process of an attempt reports, and takes them for a sign of progress.
func (a *attempt) watchRecord(h link.Handlers) link.Handlers {
	keep, c := h[jobs.CallRecord], a.s.w.o.Counters
	var mu sync.Mutex
	var sent, received, items int64
	h[jobs.CallRecord] = func(ctx context.Context, body json.RawMessage) (any, error) {
		var r jobs.Record
		if json.Unmarshal(body, &r) == nil { // else keep says so
			mu.Lock()
			s, d := r.Transferred()
			if s > sent || d > received || r.Items() > items {
				a.moved()
			}
			c.sent.Add(max(s-sent, 0))
			c.received.Add(max(d-received, 0))
			sent, received, items = max(s, sent), max(d, received), max(r.Items(), items)
			mu.Unlock()
		}
		return keep(ctx, body)
	}
	return h
}
