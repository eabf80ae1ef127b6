package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultStall = time.Minute
	// slowestTaking is how fast a host at least checks and stores what it was
	// sent, in bytes a second: it is given that time before it has to answer.
	slowestTaking = 8 << 20
)

// errStalled is the cause of a transfer that was broken off.
var errStalled = errors.New("no byte moved")

// watchdog breaks one exchange of bytes off when none of them moves for too
// long. One that is slow but moves is left alone, and so are all others.
type watchdog struct {
	limit    time.Duration
	taking   time.Duration // further time for the answer, once all is sent
	size     int64
	breakOff context.CancelCauseFunc
	ctx      context.Context
	conn     atomic.Pointer[carrier]
	sleeping atomic.Bool // nobody reads the answer at the moment
	stop     chan struct{}
	once     sync.Once
}

// carrier is the connection an exchange goes over. When it turns out to be
// closed already, another one takes its place.
type carrier struct {
	*limitedConn
	start int64 // moved on it before
}

// watch starts a watchdog over an exchange. It has to be ended.
func (t *Transport) watch(ctx context.Context, size int64) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{ctx: ctx, limit: t.options.Stall, taking: time.Duration(float64(size) / slowestTaking * float64(time.Second)),
		size: size, breakOff: cancel, stop: make(chan struct{})}
	go w.run()
	return ctx, w
}

// over takes the connection that was found.
func (w *watchdog) over(c net.Conn) {
	if s, ok := c.(*tls.Conn); ok {
		c = s.NetConn()
	}
	if l, ok := c.(*limitedConn); ok {
		w.conn.Store(&carrier{l, l.moved.Load()})
	}
}

func (w *watchdog) run() {
	look := time.NewTicker(max(w.limit/8, time.Millisecond))
	defer look.Stop()
	var seen int64
	since := time.Now()
	for {
		select {
		case <-w.stop:
			return
		case <-look.C:
		}
		moved, patience := int64(0), w.limit
		if c := w.conn.Load(); c != nil {
			total := c.moved.Load()
			queued := c.queued()
			moved = total - queued
			if total-c.start >= w.size && queued == 0 {
				patience += w.taking
			}
		}
		switch {
		case moved != seen, w.sleeping.Load():
			seen, since = moved, time.Now()
		case time.Since(since) >= patience:
			w.breakOff(errStalled)
			return
		}
	}
}

func (w *watchdog) end() {
	w.once.Do(func() { close(w.stop) })
}

// body goes on watching while an answer is read.
func (w *watchdog) body(b io.ReadCloser) io.ReadCloser {
	w.sleeping.Store(true)
	return &watchedBody{ReadCloser: b, dog: w}
}

type watchedBody struct {
	io.ReadCloser
	dog *watchdog
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.dog.sleeping.Store(false)
	n, err := b.ReadCloser.Read(p)
	b.dog.sleeping.Store(true)
	if err != nil && errors.Is(context.Cause(b.dog.ctx), errStalled) {
		err = stalledError{b.dog.limit}
	}
	return n, err
}

func (b *watchedBody) Close() error {
	b.dog.end()
	err := b.ReadCloser.Close()
	b.dog.breakOff(nil)
	return err
}

// stalledError is a transfer that was broken off, as the network's own
// time-outs are.
type stalledError struct{ limit time.Duration }

func (e stalledError) Error() string   { return "no byte moved for " + e.limit.String() }
func (e stalledError) Timeout() bool   { return true }
func (e stalledError) Temporary() bool { return true }
