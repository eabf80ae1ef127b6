package transfer

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// activity is a kind of work that transfers spend time on.
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

// limiterWindow is the period that Limiter covers; it covers up to two.
const limiterWindow = 2 * time.Second

// Stats counts the work of transfers, for display. It is safe for concurrent use.
type Stats struct {
	sent, received, retries, active atomic.Int64
	spent                           [activities]atomic.Int64 // nanoseconds
	files                           sync.Map                 // the keys are *string: files in transfer

	mu    sync.Mutex
	now   func() time.Time
	start time.Time
	at    [2][activities]int64 // spent at the start of this window and of the one before
}

// NewStats returns counters at zero.
func NewStats() *Stats { return &Stats{now: time.Now, start: time.Now()} }

// Sent returns the bytes of files sent, including repetitions.
func (s *Stats) Sent() int64 { return s.sent.Load() }

// Received returns the bytes of files received, including repetitions.
func (s *Stats) Received() int64 { return s.received.Load() }

// Retries returns how often requests of transfers were repeated.
func (s *Stats) Retries() int64 { return s.retries.Load() }

// Active returns how many connections are transferring bytes.
func (s *Stats) Active() int { return int(s.active.Load()) }

// Files returns the files being uploaded or downloaded, sorted.
func (s *Stats) Files() (names []string) {
	s.files.Range(func(name, _ any) bool {
		names = append(names, *name.(*string))
		return true
	})
	slices.Sort(names)
	return names
}

// begin registers a file as in transfer until end is called.
func (s *Stats) begin(name string) (end func()) {
	s.files.Store(&name, nil)
	return func() { s.files.Delete(&name) }
}

// Limiter returns what transfers spent most of their time on in the last seconds: "disk", "cpu"
// (hashing), "network", "server" (waiting for answers) or "limit" (bandwidth); "" when nothing is
// transferred.
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

// since adds the time since from to an activity and returns the current time.
func (s *Stats) since(a activity, from time.Time) time.Time {
	now := time.Now()
	s.add(a, now.Sub(from))
	return now
}
