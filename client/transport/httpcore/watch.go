package httpcore

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// minStoreRate is the assumed minimum rate, in bytes per second, at which a host checks and stores what
	// it received: it has that time before it must answer.
	minStoreRate = 8 << 20
	// minSilence is the time without progress before it is reported.
	minSilence = 3 * time.Second
	// While a body is sent, its confirmed bytes are counted after firstInterval, then increasingly rarely up
	// to every bodyInterval; otherwise an exchange is checked at least every idleInterval.
	firstInterval, bodyInterval = 2 * time.Millisecond, 50 * time.Millisecond
	idleInterval                = 500 * time.Millisecond
)

// watch follows one exchange: how much of its body the peer has confirmed, and how long nothing has moved. It
// reports silence, and cancels the exchange after too much of it. A slow exchange with progress is left
// alone.
type watch struct {
	core    *Core
	request *Request
	cancel  context.CancelCauseFunc
	ctx     context.Context

	mu       sync.Mutex
	timer    *time.Timer
	conn     *limitedConn // nil while there is none
	start    int64        // bytes sent on it before
	moved    int64        // at the last check: received or confirmed
	since    time.Time    // time of the last change
	answered bool         // the answer has begun
	paused   bool         // the caller is not reading it
	ended    bool
}

// watch starts watching an exchange. It has to be ended.
func (c *Core) watch(ctx context.Context, r *Request) (context.Context, *watch) {
	w := &watch{core: c, request: r, since: r.Started}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.interval(false), w.check)
	return w.ctx, w
}

// use records the connection of the exchange. If that turns out to be closed already, another one replaces
// it.
func (w *watch) use(c net.Conn) {
	for {
		s, ok := c.(*tls.Conn)
		if !ok {
			break
		}
		c = s.NetConn()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn, _ = c.(*limitedConn); w.conn != nil {
		w.start = w.conn.sent.Load()
		w.moved, w.since = w.start+w.conn.received.Load(), time.Now()
	}
}

func (w *watch) interval(sent bool) time.Duration {
	d := idleInterval
	if w.request.Confirmed != nil && !sent {
		d = min(max(time.Since(w.request.Started)/8, firstInterval), bodyInterval)
	}
	if stall := w.request.Stall; stall > 0 {
		d = min(d, stall/8)
	}
	return max(d, time.Millisecond)
}

func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	now, confirmed, moved, more := time.Now(), int64(0), int64(0), false
	if w.conn != nil {
		confirmed, more = w.conn.confirmed()
		moved = confirmed + w.conn.received.Load()
		confirmed -= w.start
	}
	if moved != w.moved {
		w.core.moved.Store(now.UnixNano())
	}
	if moved != w.moved || w.paused {
		w.moved, w.since = moved, now
	}
	size := max(w.request.Size, 0)
	sent := w.conn != nil && !more && confirmed >= size
	if w.request.Confirmed != nil && !w.answered && confirmed > 0 {
		w.request.Confirmed(min(confirmed, size))
	}
	limit, storing := w.request.Stall, time.Duration(0)
	switch {
	case w.answered || !sent || limit == 0:
	case w.request.Answer > 0:
		limit = w.request.Answer
	default:
		storing = time.Duration(float64(size) / minStoreRate * float64(time.Second))
	}
	silent := now.Sub(w.since)
	if limit > 0 && silent >= limit+storing {
		w.cancel(stalledError{limit})
		return
	}
	if !w.answered {
		w.report(now, silent, sent, more)
	}
	w.timer.Reset(w.interval(sent || w.answered))
}

// report reports silence: a network that is down accepts no connection, or leaves sent bytes unconfirmed, on
// all connections; a host that hangs confirms them, and does not answer.
func (w *watch) report(now time.Time, silent time.Duration, sent, unconfirmed bool) {
	o := &w.core.options
	if sent {
		if o.Unanswered != nil {
			o.Unanswered(w.request.URL, silent)
		}
		return
	}
	if last := w.core.moved.Load(); last != 0 {
		silent = min(silent, now.Sub(time.Unix(0, last)))
	}
	if silent >= minSilence && (w.conn == nil || unconfirmed) && o.Unresponsive != nil {
		o.Unresponsive(w.request.URL, silent)
	}
}

// cause returns the error that cancelled an exchange in place of its consequences.
func (w *watch) cause(err error) error {
	if stalled, ok := context.Cause(w.ctx).(stalledError); ok {
		return stalled
	}
	return err
}

// end ends the watch, and returns how long nothing has moved.
func (w *watch) end() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timer.Stop()
	return time.Since(w.since)
}

// body continues watching while an answer is read.
func (w *watch) body(b io.ReadCloser) io.ReadCloser {
	w.core.moved.Store(time.Now().UnixNano())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered, w.paused = true, true
	return &watchedBody{ReadCloser: b, watch: w}
}

type watchedBody struct {
	io.ReadCloser
	watch *watch
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.watch.pause(false)
	n, err := b.ReadCloser.Read(p)
	b.watch.pause(true)
	if err != nil {
		err = b.watch.cause(err)
	}
	return n, err
}

// pause records whether the caller is busy with something other than reading.
func (w *watch) pause(paused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = paused
}

func (b *watchedBody) Close() error {
	b.watch.end()
	err := b.ReadCloser.Close()
	b.watch.cancel(nil)
	return err
}

// stalledError is the error of an exchange cancelled for lack of progress, a time-out like the network's own.
type stalledError struct{ limit time.Duration }

func (e stalledError) Error() string   { return "no byte moved for " + e.limit.String() }
func (e stalledError) Timeout() bool   { return true }
func (e stalledError) Temporary() bool { return true }
