package transport

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"transect/client/fault"
)

const (
	firstBackoff   = 250 * time.Millisecond
	longestBackoff = 30 * time.Second
	// longestRetryAfter limits the Retry-After of a host.
	longestRetryAfter = 2 * time.Minute
	firstInterval     = 10 * time.Millisecond
	longestInterval   = 2 * time.Second
)

// A pacer spaces the requests of all callers to one host. The interval between them is zero until the host is
// overloaded; it doubles with each such answer and halves with each other one.
type pacer struct {
	mu       sync.Mutex
	interval time.Duration
	next     time.Time // when the next request may start
	paused   time.Time // nothing starts before, on the host's request
	reached  bool      // the host has answered at least once
	away     time.Time // since when it has not answered; zero while it does
	missed   time.Time // when it last failed to answer
	last     time.Time // when it last answered
	hangs    bool      // the user was notified that it does not answer
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
		again := p.paused.After(start) // requested while this one slept
		p.mu.Unlock()
		if !again {
			return ctx.Err()
		}
	}
}

// answered records an answer, and returns how long the host was away before, and for how long that was shown
// to the user.
func (p *pacer) answered(v verdict) (away, hung time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hangs {
		hung = time.Since(p.last)
	}
	p.reached, p.hangs, p.last = true, false, time.Now()
	if !v.away && !p.away.IsZero() {
		away, p.away = time.Since(p.away), time.Time{}
	}
	if !v.overloaded {
		if p.interval /= 2; p.interval < firstInterval {
			p.interval = 0
		}
		return away, hung
	}
	p.interval = min(max(2*p.interval, firstInterval), longestInterval)
	if until := time.Now().Add(v.retryAfter); until.After(p.paused) {
		p.paused = until
	}
	return away, hung
}

// unanswered returns how long a request has waited during which the host has answered no other either.
func (p *pacer) unanswered(lasted, silent time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() {
		p.last = time.Now().Add(-lasted)
	}
	lasted = min(lasted, time.Since(p.last))
	p.hangs = p.hangs || lasted >= silent
	return lasted
}

func (p *pacer) everReached() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reached
}

// reportedWait is the shortest Retry-After that is logged.
const reportedWait = 10 * time.Second

// RetryAfter returns how long requests must wait from now on a host's request; 0 if none do.
func (t *Transport) RetryAfter() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	longest := time.Duration(0)
	now := time.Now()
	for _, p := range t.pacers {
		longest = max(longest, p.pause(now))
	}
	return longest
}

// pause returns how long to wait from now on the host's request.
func (p *pacer) pause(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.paused.Sub(now))
}

// requestRate returns a limiter of requests per second; nil for 0.
func requestRate(perSecond float64) *rate.Limiter {
	if perSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(perSecond), 1)
}

// paced waits until a request may start: by the host's pacer, then by the configured rate.
func (t *Transport) paced(ctx context.Context, p *pacer) error {
	if err := p.wait(ctx, t.options.Sleep); err != nil || t.rate == nil {
		return err
	}
	now := time.Now()
	turn := t.rate.ReserveN(now, 1)
	if wait := turn.DelayFrom(now); wait > 0 {
		if err := t.options.Sleep(ctx, wait); err != nil {
			turn.Cancel()
			return err
		}
	}
	return nil
}

// A verdict decides whether a failed exchange is worth repeating.
type verdict struct {
	again      bool
	away       bool          // the network or the platform is away
	status     int           // of the answer; 0 without one
	overloaded bool          // the host requests fewer requests (429, 503)
	retryAfter time.Duration // the wait it requests, capped
	hasRetry   bool          // it named one

	unprocessed bool // the request was certainly not carried out
}

// judgeStatus decides on an answer.
func judgeStatus(status int, header http.Header, repeatable bool, now time.Time) verdict {
	v := verdict{status: status, away: isAway(status)}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		v.overloaded = true
		v.retryAfter, v.hasRetry = retryAfter(header.Get("Retry-After"), now)
	}
	v.unprocessed = status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && v.hasRetry
	v.again = v.unprocessed || repeatable && fault.TransientStatus(status)
	return v
}

// retryAfter parses the header, in seconds or as a date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(longestRetryAfter/time.Second))) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, min(at.Sub(now), longestRetryAfter)), true
	}
	return 0, false
}
