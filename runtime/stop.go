package runtime

import (
	"context"
	"syscall"
	"time"
)

// grace is how long a run that was told to stop may take to tidy up. A run that
// hangs in something that cannot be stopped is left behind after that: what it
// was doing is safe to break off anywhere, as a crash may do so too.
const grace = 150 * time.Millisecond

// stoppable returns a context that ends with the first signal, or when the time
// limit has passed (0 is none). A second signal ends the process at once. When
// there is a time to finish in, SIGTERM only calls drain at first; the context
// ends after that time, or with the next signal.
func (w *World) stoppable(ctx context.Context, limit, finish time.Duration, drain func(error)) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	finished := make(chan struct{})
	var timer *time.Timer
	if limit > 0 {
		timer = time.AfterFunc(limit, func() { cancel(&overrun{limit}) })
	}
	go w.heed(cancel, finish, drain, finished)
	return ctx, func() {
		close(finished)
		if timer != nil {
			timer.Stop()
		}
		cancel(nil)
	}
}

func (w *World) heed(cancel context.CancelCauseFunc, finish time.Duration, drain func(error), finished <-chan struct{}) {
	var over <-chan time.Time // the time to finish in
	var reason *Interrupted
	for cancelled := false; ; {
		select {
		case signal := <-w.Signals:
			last := reason
			reason = &Interrupted{signal}
			switch {
			case cancelled:
				w.Exit(reason.code())
				return
			case last == nil && finish > 0 && signal == syscall.SIGTERM:
				over = time.After(finish)
				drain(reason)
			default:
				cancelled = true
				cancel(reason)
			}
		case <-over:
			cancelled = true
			cancel(reason)
		case <-finished:
			return
		}
	}
}

// Stoppable returns a context that ends with the first signal; a second one
// ends the process at once.
func (w *World) Stoppable(ctx context.Context) (context.Context, context.CancelFunc) {
	return w.stoppable(ctx, 0, 0, nil)
}
