package link

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"transect/client/fault"
)

// Child is the end of a link in a job's process. It is safe for concurrent use.
type Child struct {
	Begin
	pipes
	last   atomic.Uint64 // id of the latest call
	broken chan struct{} // closed when the worker is gone

	mu      sync.Mutex
	until   time.Duration
	renewed chan struct{} // closed at the next renewal of the lease
	calls   map[uint64]chan message

	stopped context.Context
	stop    context.CancelCauseFunc
}

// Variable is the environment variable that names the inherited files of a link.
const Variable = "TRANSECT_JOB_LINK"

// Inherited returns the link of this process, nil when no worker started it. It must be called once: child
// processes do not inherit the link.
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

// open waits for the first message from the worker.
func open(in, out *os.File) (*Child, error) {
	c := &Child{pipes: pipes{in: in, out: out}, broken: make(chan struct{}), renewed: make(chan struct{}),
		calls: map[uint64]chan message{}}
	c.stopped, c.stop = context.WithCancelCause(context.Background())
	m, err := c.receive()
	if err == nil && m.Call != newsBegin {
		err = fmt.Errorf("it began with %q", m.Call)
	}
	if err == nil {
		err = json.Unmarshal(m.Body, &c.Begin)
	}
	if err != nil {
		_ = c.close()
		return nil, gone(err)
	}
	c.until = c.Begin.Until
	go c.listen()
	return c, nil
}

func gone(err error) error {
	return fault.Of(&fault.CancelledError{}, "the worker of the job is gone: %w", err)
}

func (c *Child) listen() {
	for {
		m, err := c.receive()
		if err != nil {
			c.stop(gone(err))
			close(c.broken)
			return
		}
		switch m.Call {
		case newsLease:
			var until time.Duration
			if json.Unmarshal(m.Body, &until) == nil {
				c.renew(until)
			}
		case newsCancel:
			var reason string
			_ = json.Unmarshal(m.Body, &reason) // an invalid reason is left out
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

// Stopped returns a context that ends, with a cause, when the worker is gone or stops the job.
func (c *Child) Stopped() context.Context { return c.stopped }

// Gate blocks while the lease is expired: until its renewal, or the end of the job.
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

// Call sends a request to the worker and decodes the response into out, unless it is nil.
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
	if err := c.send(message{ID: id, Call: name, Body: body}); err != nil {
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

// Close closes the link.
func (c *Child) Close() error { return c.close() }
