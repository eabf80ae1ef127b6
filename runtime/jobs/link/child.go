package link

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"transect/client/fault"
)

// Child is the end of a link in the process of a job, for this job: nothing is sent
// through it once the job has ended. It is safe for concurrent use.
type Child struct {
	Begin
	*line

	mu      sync.Mutex
	until   time.Duration
	renewed chan struct{} // closed at the next renewal of the lease
	calls   map[uint64]chan message

	stopped context.Context
	stop    context.CancelCauseFunc
	ended   chan struct{} // closed by Next
}

// line is what the jobs of a process share, one after another.
type line struct {
	pipes
	last   atomic.Uint64 // call
	next   chan *Child
	broken chan struct{} // closed when the worker is gone
}

// begin makes the Child of a worker's message.
func (l *line) begin(m message) (*Child, error) {
	c := &Child{line: l, renewed: make(chan struct{}), calls: map[uint64]chan message{}, ended: make(chan struct{})}
	if err := json.Unmarshal(m.Body, &c.Begin); err != nil {
		return nil, err
	}
	c.until = c.Begin.Until
	c.stopped, c.stop = context.WithCancelCause(context.Background())
	return c, nil
}

// Variable is the environment variable that names the inherited files of a link.
const Variable = "TRANSECT_JOB_LINK"

// Inherited is the link of this process, nil when no worker started it. It is
// called once: programs that the process starts inherit nothing of the link.
func Inherited() (*Child, error) {
	text, ok := os.LookupEnv(Variable)
	if !ok {
		return nil, nil
	}
	if err := os.Unsetenv(Variable); err != nil {
		return nil, err
	}
	in, out, err := inherited(text)
	if err != nil {
		return nil, fault.Of(&fault.ConfigError{}, "%s=%s: %w", Variable, text, err)
	}
	return open(in, out)
}

// open waits for the first message of the worker.
func open(in, out *os.File) (*Child, error) {
	l := &line{pipes: pipes{in: in, out: out}, next: make(chan *Child, 1), broken: make(chan struct{})}
	m, err := l.receive()
	var c *Child
	if err == nil && m.Call == newsBegin {
		c, err = l.begin(m)
	}
	if c == nil {
		_ = l.close()
		return nil, gone(err)
	}
	go l.listen(c)
	return c, nil
}

func gone(err error) error {
	return fault.Of(&fault.CancelledError{}, "the worker of the job is gone: %w", err)
}

func (l *line) listen(c *Child) {
	for {
		m, err := l.receive()
		var next *Child
		if err == nil && m.Call == newsBegin { // the answer to Next
			next, err = l.begin(m)
		}
		if err != nil {
			c.stop(gone(err))
			close(l.broken)
			return
		}
		switch m.Call {
		case newsBegin:
			c = next
			l.next <- c
		case newsLease:
			var until time.Duration
			if json.Unmarshal(m.Body, &until) == nil {
				c.renew(until)
			}
		case newsCancel:
			var reason string
			_ = json.Unmarshal(m.Body, &reason) // it is told without one
			c.stop(fault.Of(&fault.CancelledError{}, "the job was cancelled: %s", reason))
		case "":
			c.mu.Lock()
			answer := c.calls[m.ID]
			delete(c.calls, m.ID)
			c.mu.Unlock()
			if answer != nil {
				answer <- m
			}
		}
	}
}

func (c *Child) renew(until time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
	close(c.renewed)
	c.renewed = make(chan struct{})
}

// Stopped ends, with its cause, when the worker is gone or asks the job to stop.
func (c *Child) Stopped() context.Context { return c.stopped }

// Gate waits while the lease is over: for its renewal, or the end of the job.
func (c *Child) Gate(ctx context.Context) error {
	for {
		c.mu.Lock()
		until, renewed := c.until, c.renewed
		c.mu.Unlock()
		switch {
		case c.stopped.Err() != nil:
			return context.Cause(c.stopped)
		case Now() < until:
			return nil
		}
		select {
		case <-renewed:
		case <-c.stopped.Done():
		case <-ctx.Done():
			return fault.Stopped(ctx)
		}
	}
}

// Call asks the worker and decodes its answer into out, unless that is nil.
func (c *Child) Call(ctx context.Context, name string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer, id := make(chan message, 1), c.last.Add(1)
	c.mu.Lock()
	c.calls[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
	}()
	if err := c.send(message{ID: id, Call: name, Body: body}, c.ended); err != nil {
		if fault.Find(err) != nil {
			return err
		}
		return gone(err)
	}
	select {
	case m := <-answer:
		switch {
		case m.Failed != nil:
			return m.Failed.err()
		case out == nil:
			return nil
		}
		return json.Unmarshal(m.Body, out)
	case <-c.stopped.Done():
		return context.Cause(c.stopped)
	case <-ctx.Done():
		return fault.Stopped(ctx)
	}
}

// Next ends the job and waits for another one; nil when there is none. What the job
// may have left behind can do nothing any more.
func (c *Child) Next(signals <-chan os.Signal) *Child {
	close(c.ended)
	c.stop(errEnded)
	if c.news(newsEnded, nil) != nil {
		return nil
	}
	select {
	case next := <-c.next:
		return next
	case <-c.broken:
	case <-signals:
	}
	return nil
}

// Close ends the link.
func (c *Child) Close() error { return c.close() }
