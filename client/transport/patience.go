package transport

import "time"

// worthTelling is the shortest wait for a host that is told of: shorter ones are
// over before anybody has read of them.
const worthTelling = 10 * time.Second

// Patience is for how long requests are held back from now on because a host
// asked for it (Retry-After); 0 when none are. Displays ask several times a
// second.
func (t *Transport) Patience() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	longest := time.Duration(0)
	now := time.Now()
	for _, p := range t.pacers {
		longest = max(longest, p.patience(now))
	}
	return longest
}

func (p *pacer) patience(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.paused.Sub(now))
}
