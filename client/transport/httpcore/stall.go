package httpcore

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
	// minStoreRate is how fast a host checks and stores what it was sent, in bytes
	// a second at least: it has that time before it must answer.
	minStoreRate = 8 << 20
)

// errStalled is the cause of an exchange that was cancelled.
var errStalled = errors.New("no byte moved")

// watchdog cancels one exchange when none of its bytes moves for too long. A slow
// one that moves is left alone.
type watchdog struct {
	limit    time.Duration
	storing  time.Duration // further time for the answer, once all is sent
	size     int64
	breakOff context.CancelCauseFunc
	ctx      context.Context
	conn     atomic.Pointer[carrier]
	paused   atomic.Bool // the caller is not reading the answer

	mu    sync.Mutex
	timer *time.Timer
	seen  int64     // moved at the last check
	since time.Time // when that last changed
	ended bool
}

// carrier is the connection of an exchange. When it turns out to be closed
// already, another one takes its place.
type carrier struct {
	*limitedConn
	start int64 // moved on it before
}

// watch starts a watchdog over an exchange. It has to be ended.
func watch(ctx context.Context, limit time.Duration, size int64) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{ctx: ctx, limit: limit,
		storing: time.Duration(float64(max(size, 0)) / minStoreRate * float64(time.Second)),
		size:    size, breakOff: cancel, since: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.interval(), w.check)
	return ctx, w
}

func (w *watchdog) interval() time.Duration { return max(w.limit/8, time.Millisecond) }

// over notes the connection that is used.
func (w *watchdog) over(c net.Conn) {
	if l := limited(c); l != nil {
		w.conn.Store(&carrier{l, l.transferred.Load()})
	}
}

// limited is the connection under TLS; nil when it is another one's.
func limited(c net.Conn) *limitedConn {
	if s, ok := c.(*tls.Conn); ok {
		c = s.NetConn()
	}
	l, _ := c.(*limitedConn)
	return l
}

func (w *watchdog) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	moved, limit := int64(0), w.limit
	if c := w.conn.Load(); c != nil {
		total := c.transferred.Load()
		queued := c.queued()
		moved = total - queued
		if total-c.start >= w.size && queued == 0 {
			limit += w.storing
		}
	}
	switch {
	case moved != w.seen, w.paused.Load():
		w.seen, w.since = moved, time.Now()
	case time.Since(w.since) >= limit:
		w.breakOff(errStalled)
		return
	}
	w.timer.Reset(w.interval())
}

func (w *watchdog) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timer.Stop()
}

// body goes on watching while an answer is read.
func (w *watchdog) body(b io.ReadCloser) io.ReadCloser {
	w.paused.Store(true)
	return &watchedBody{ReadCloser: b, dog: w}
}

type watchedBody struct {
	io.ReadCloser
	dog *watchdog
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.dog.paused.Store(false)
	n, err := b.ReadCloser.Read(p)
	b.dog.paused.Store(true)
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

// stalledError is a cancelled exchange, a time-out like the network's own.
type stalledError struct{ limit time.Duration }

func (e stalledError) Error() string   { return "no byte moved for " + e.limit.String() }
func (e stalledError) Timeout() bool   { return true }
func (e stalledError) Temporary() bool { return true }
