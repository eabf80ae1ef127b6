package httpcore

import (
	"net"
	"net/url"
	"sync"
	"time"
)

// probeInterval is how long a host may confirm nothing before that is reported.
const probeInterval = 1500 * time.Millisecond

// probe watches a request until its answer begins: a network that is down
// accepts no connection, or leaves sent bytes unconfirmed; a host that hangs
// confirms them, and does not answer.
type probe struct {
	unresponsive, unanswered func(*url.URL, time.Duration)

	url  *url.URL
	size int64 // of the body; -1 when unknown

	mu        sync.Mutex
	timer     *time.Timer
	conn      *limitedConn // nil while there is none
	start     int64        // transferred on it before
	confirmed int64        // at the last check
	since     time.Time    // time of that check
	used      time.Time    // since when it is used
	ended     bool
}

func (p *probe) begin() (end func()) {
	p.timer = time.AfterFunc(probeInterval, p.check)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = true
		p.timer.Stop()
	}
}

// use records the connection that is used. One whose bytes cannot be counted is
// not watched.
func (p *probe) use(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn, p.since, p.used = limited(c), time.Now(), time.Now()
	if p.ended = p.ended || p.conn == nil; p.conn != nil {
		p.start = p.conn.transferred.Load()
	}
}

func (p *probe) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.timer.Reset(probeInterval)
	if p.conn != nil {
		queued, now := p.conn.queued(), time.Now()
		if confirmed := p.conn.transferred.Load() - queued; queued == 0 || confirmed != p.confirmed {
			p.confirmed, p.since = confirmed, now
			if sent := p.size >= 0 && confirmed-p.start >= p.size; sent && queued == 0 && p.unanswered != nil {
				p.unanswered(p.url, min(now.Sub(p.used), now.Sub(p.conn.moved())))
			}
			return
		}
	}
	if lasted := time.Since(p.since); lasted >= probeInterval {
		p.unresponsive(p.url, lasted)
	}
}
