package runtime

import (
	"context"
	"time"
)

// grace is how long a run that was told to stop may take to tidy up. A run that
// hangs in something that cannot be stopped is left behind after that: what it
// was doing is safe to break off anywhere, as a crash may do so too.
const grace = 150 * time.Millisecond

// stoppable returns a context that ends with the first signal, or when the time
// limit has passed (0 is none). A second signal ends the process at once.
func (w *World) stoppable(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	finished := make(chan struct{})
	var timer *time.Timer
	if limit > 0 {
		timer = time.AfterFunc(limit, func() { cancel(&overrun{limit}) })
	}
	go w.heed(cancel, finished)
	return ctx, func() {
		close(finished)
		if timer != nil {
			timer.Stop()
		}
		cancel(nil)
	}
}

func (w *World) heed(cancel context.CancelCauseFunc, finished <-chan struct{}) {
	for first := true; ; first = false {
		select {
		case signal := <-w.Signals:
			reason := &Interrupted{signal}
			if !first {
				w.Exit(reason.code())
				return
			}
			cancel(reason)
		case <-finished:
			return
		}
	}
}

// Stoppable returns a context that ends with the first signal; a second one
// ends the process at once.
func (w *World) Stoppable(ctx context.Context) (context.Context, context.CancelFunc) {
	return w.stoppable(ctx, 0)
}
