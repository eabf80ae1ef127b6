package transport

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	firstBackoff   = 250 * time.Millisecond
	longestBackoff = 30 * time.Second
	// longestRetryAfter bounds what a host may ask for.
	longestRetryAfter = 2 * time.Minute
	firstInterval     = 10 * time.Millisecond
	longestInterval   = 2 * time.Second
)

// backoff is the wait before repeat n (from 1): doubling, half of it random so
// that many clients do not come back together.
func backoff(n int) time.Duration {
	d := longestBackoff
	if n < 8 {
		d = min(firstBackoff<<(n-1), longestBackoff)
	}
	return d/2 + rand.N(d/2)
}

// A pacer spaces the requests to one host, for all callers together. It stays
// out of the way until the host complains: then the interval between requests
// doubles with each complaint and halves with each answer.
type pacer struct {
	mu       sync.Mutex
	interval time.Duration
	next     time.Time // when the next request may start
	paused   time.Time // nothing starts before, as the host asked
	reached  bool      // the host has answered at least once
}

// wait blocks until a request may start.
func (p *pacer) wait(ctx context.Context, sleep func(context.Context, time.Duration) error) error {
	for {
		p.mu.Lock()
		now := time.Now()
		start := now
		if p.next.After(start) {
			start = p.next
		}
		if p.paused.After(start) {
			start = p.paused
		}
		p.next = start.Add(p.interval)
		p.mu.Unlock()
		if !start.After(now) {
			return ctx.Err()
		}
		if err := sleep(ctx, start.Sub(now)); err != nil {
			return err
		}
		p.mu.Lock()
		again := p.paused.After(start) // asked for while this one slept
		p.mu.Unlock()
		if !again {
			return ctx.Err()
		}
	}
}

// answered notes an answer: slow when the host asked for patience.
func (p *pacer) answered(slow bool, retryAfter time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reached = true
	if !slow {
		if p.interval /= 2; p.interval < firstInterval {
			p.interval = 0
		}
		return
	}
	p.interval = min(max(2*p.interval, firstInterval), longestInterval)
	if until := time.Now().Add(retryAfter); until.After(p.paused) {
		p.paused = until
	}
}

func (p *pacer) everReached() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reached
}
