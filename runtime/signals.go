package runtime

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// abandonAfter is how long a cancelled run may take to clean up. A run blocked in something that cannot be
// cancelled is then abandoned: all its work is crash-safe.
const abandonAfter = 150 * time.Millisecond

// Relay passes signals from a channel to Signals while something waits for them (AwaitSignals). Otherwise a
// signal exits the process, whatever it is blocked in.
func (p *Process) Relay(from <-chan os.Signal) {
	to := make(chan os.Signal, cap(from))
	p.Signals, p.waiting = to, new(atomic.Int32)
	go func() {
		for signal := range from {
			if p.waiting.Load() == 0 {
				p.Exit((&Interrupted{signal}).code())
				continue
			}
			to <- signal
		}
	}()
}

// AwaitSignals announces that the caller reads Signals until it calls release.
func (p *Process) AwaitSignals() (release func()) {
	if p.waiting == nil {
		return func() {}
	}
	p.waiting.Add(1)
	return func() { p.waiting.Add(-1) }
}

// CancelOnSignal returns a context that is cancelled by the first signal. The
// second signal exits the process.
func (p *Process) CancelOnSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return p.cancelOnSignal(ctx, 0, 0, nil)
}

// cancelOnSignal returns a context that is cancelled by the first signal, or
// after the timeout (0 is none). The second signal exits the process. With a
// grace period, the first SIGTERM only calls drain; the context is cancelled
// when the period is over, or by the next signal.
func (p *Process) cancelOnSignal(ctx context.Context, timeout, grace time.Duration, drain func(error)) (context.Context,
	context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	finished := make(chan struct{})
	var timer *time.Timer
	if timeout > 0 {
		timer = time.AfterFunc(timeout, func() { cancel(&timeoutError{timeout}) })
	}
	release := p.AwaitSignals()
	go p.handleSignals(cancel, grace, drain, finished)
	return ctx, func() {
		release()
		close(finished)
		if timer != nil {
			timer.Stop()
		}
		cancel(nil)
	}
}

func (p *Process) handleSignals(cancel context.CancelCauseFunc, grace time.Duration, drain func(error),
	finished <-chan struct{}) {
	var graceOver <-chan time.Time
	var reason *Interrupted
	for cancelled := false; ; {
		select {
		case signal := <-p.Signals:
			first := reason == nil
			reason = &Interrupted{signal}
			switch {
			case cancelled:
				p.Exit(reason.code())
				return
			case first && grace > 0 && signal == syscall.SIGTERM:
				graceOver = time.After(grace)
				drain(reason)
			default:
				cancelled = true
				cancel(reason)
			}
		case <-graceOver:
			cancelled = true
			cancel(reason)
		case <-finished:
			return
		}
	}
}
