package httpcore

import (
	"net"
	"net/url"
	"sync"
	"time"
)

// probeInterval is how long a host may confirm nothing before that is reported.
const probeInterval = 1500 * time.Millisecond

// probe watches a request until its answer begins: a network that is away takes
// no connection, or leaves what was sent unconfirmed. An answer that takes its
// time is neither.
type probe struct {
	report func(*url.URL, time.Duration)
	url    *url.URL

	mu    sync.Mutex
	timer *time.Timer
	conn  *limitedConn // nil while there is none
	moved int64        // confirmed at the last look
	since time.Time    // of that
	ended bool
}

func (p *probe) start() (end func()) {
	p.timer = time.AfterFunc(probeInterval, p.look)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = true
		p.timer.Stop()
	}
}

// over notes the connection that is used. One whose bytes cannot be counted is
// not watched.
func (p *probe) over(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn, p.since = limited(c), time.Now()
	p.ended = p.ended || p.conn == nil
}

func (p *probe) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.timer.Reset(probeInterval)
	if p.conn != nil {
		queued := p.conn.queued()
		if moved := p.conn.transferred.Load() - queued; queued == 0 || moved != p.moved {
			p.moved, p.since = moved, time.Now()
			return
		}
	}
	if lasted := time.Since(p.since); lasted >= probeInterval {
		p.report(p.url, lasted)
	}
}
