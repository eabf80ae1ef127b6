package transfer

import (
	"sync"
	"sync/atomic"
	"time"
)

// What a transfer spends its time on.
type activity int

const (
	onDisk    activity = iota // reading or writing files
	onCPU                     // hashing
	onNetwork                 // sending and receiving
	onServer                  // waiting for an answer
	onLimit                   // held back by the bandwidth limit
	activities
)

var activityNames = [activities]string{"disk", "cpu", "network", "server", "limit"}

// limiterWindow is how far back Limiter looks, once to twice.
const limiterWindow = 2 * time.Second

// Stats counts what transfers do, for displays. All methods may be called at
// any time from any goroutine.
type Stats struct {
	sent, received, retries, resent, active atomic.Int64
	spent                                   [activities]atomic.Int64 // nanoseconds

	mu        sync.Mutex
	now       func() time.Time
	last      time.Time
	earlier   [activities]int64 // what was spent at the window's start
	following [activities]int64 // the same of the window after it
}

// NewStats starts at zero.
func NewStats() *Stats { return &Stats{now: time.Now, last: time.Now()} }

// Moved is the number of bytes that were sent and received, repeated ones
// included.
func (s *Stats) Moved() int64 { return s.Sent() + s.Received() }

// Sent is how many bytes of files left, repeated ones included.
func (s *Stats) Sent() int64 { return s.sent.Load() }

// Received is how many bytes of files came in, repeated ones included.
func (s *Stats) Received() int64 { return s.received.Load() }

// Retries is how often a request of a transfer was repeated.
func (s *Stats) Retries() int64 { return s.retries.Load() }

// Resent is how many parts, or whole files, were sent again after some of their
// bytes had left already.
func (s *Stats) Resent() int64 { return s.resent.Load() }

// Active is how many connections move bytes at the moment.
func (s *Stats) Active() int { return int(s.active.Load()) }

// Spent is the time spent by all transfers together on "disk", "cpu" (hashing),
// "network", "server" (waiting for answers) and "limit" (held back).
func (s *Stats) Spent() map[string]time.Duration {
	all := map[string]time.Duration{}
	for a, name := range activityNames {
		all[name] = time.Duration(s.spent[a].Load())
	}
	return all
}

// Limiter names what transfers spent most of their time on in the last
// seconds: "disk", "cpu", "network", "server" or "limit"; "" when nothing moves.
func (s *Stats) Limiter() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var present [activities]int64
	for a := range s.spent {
		present[a] = s.spent[a].Load()
	}
	most, name := int64(0), ""
	for a, total := range present {
		if d := total - s.earlier[a]; d > most {
			most, name = d, activityNames[a]
		}
	}
	if now := s.now(); now.Sub(s.last) >= limiterWindow {
		s.last, s.earlier, s.following = now, s.following, present
	}
	return name
}

// add notes time spent.
func (s *Stats) add(a activity, d time.Duration) {
	if d > 0 {
		s.spent[a].Add(int64(d))
	}
}

// since notes the time since a moment and gives the present one.
func (s *Stats) since(a activity, from time.Time) time.Time {
	now := time.Now()
	s.add(a, now.Sub(from))
	return now
}
