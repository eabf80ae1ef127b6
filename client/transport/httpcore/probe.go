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
// accepts no connection, or leaves sent bytes unconfirmed. A slow answer is
// neither.
type probe struct {
	report func(*url.URL, time.Duration)
	url    *url.URL

	mu        sync.Mutex
	timer     *time.Timer
	conn      *limitedConn // nil while there is none
	confirmed int64        // at the last check
	since     time.Time    // time of that check
	ended     bool
}

func (p *probe) start() (end func()) {
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
	p.conn, p.since = limited(c), time.Now()
	p.ended = p.ended || p.conn == nil
}

func (p *probe) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.timer.Reset(probeInterval)
	if p.conn != nil {
		queued := p.conn.queued()
		if confirmed := p.conn.transferred.Load() - queued; queued == 0 || confirmed != p.confirmed {
			p.confirmed, p.since = confirmed, time.Now()
			return
		}
	}
	if lasted := time.Since(p.since); lasted >= probeInterval {
		p.report(p.url, lasted)
	}
}
