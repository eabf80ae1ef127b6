package transport

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// requestRate makes the limiter of requests a second; none for 0.
func requestRate(perSecond float64) *rate.Limiter {
	if perSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(perSecond), 1)
}

// paced waits until a request may start: for the host's sake, then for the
// rate that was set.
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
