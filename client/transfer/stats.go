package transfer

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// activity is what transfers spend time on.
type activity int

const (
	onDisk    activity = iota // reading or writing files
	onCPU                     // hashing
	onNetwork                 // sending and receiving
	onServer                  // waiting for an answer
	onLimit                   // waiting for the bandwidth limit
	activities
)

var activityNames = [activities]string{"disk", "cpu", "network", "server", "limit"}

// limiterWindow is how far back Limiter looks, once to twice.
const limiterWindow = 2 * time.Second

// Stats counts what transfers do, for displays. It is safe for concurrent use.
type Stats struct {
	sent, received, retries, active atomic.Int64
	spent                           [activities]atomic.Int64 // nanoseconds
	files                           sync.Map                 // the keys are *string: files in transfer

	mu    sync.Mutex
	now   func() time.Time
	start time.Time
	at    [2][activities]int64 // spent at the start of this window and of the one before
}

// NewStats starts at zero.
func NewStats() *Stats { return &Stats{now: time.Now, start: time.Now()} }

// Sent is the number of bytes of files sent, with repetitions.
func (s *Stats) Sent() int64 { return s.sent.Load() }

// Received is the number of bytes of files received, with repetitions.
func (s *Stats) Received() int64 { return s.received.Load() }

// Retries is how often a request of a transfer was repeated.
func (s *Stats) Retries() int64 { return s.retries.Load() }

// Active is how many connections transfer bytes at the moment.
func (s *Stats) Active() int { return int(s.active.Load()) }

// Files are the files that are uploaded or downloaded at the moment, sorted.
func (s *Stats) Files() (names []string) {
	s.files.Range(func(name, _ any) bool {
		names = append(names, *name.(*string))
		return true
	})
	slices.Sort(names)
	return names
}

// begin notes a file in transfer until end is called.
func (s *Stats) begin(name string) (end func()) {
	s.files.Store(&name, nil)
	return func() { s.files.Delete(&name) }
}

// Limiter is what transfers spent most of their time on in the last seconds:
// "disk", "cpu" (hashing), "network", "server" (waiting for answers) or "limit"
// (bandwidth); "" when nothing is transferred.
func (s *Stats) Limiter() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var present [activities]int64
	most, name := int64(0), ""
	for a := range s.spent {
		present[a] = s.spent[a].Load()
		if d := present[a] - s.at[1][a]; d > most {
			most, name = d, activityNames[a]
		}
	}
	if now := s.now(); now.Sub(s.start) >= limiterWindow {
		s.start, s.at = now, [2][activities]int64{present, s.at[0]}
	}
	return name
}

func (s *Stats) add(a activity, d time.Duration) {
	if d > 0 {
		s.spent[a].Add(int64(d))
	}
}

// since adds the time since a moment and returns the present one.
func (s *Stats) since(a activity, from time.Time) time.Time {
	now := time.Now()
	s.add(a, now.Sub(from))
	return now
}
