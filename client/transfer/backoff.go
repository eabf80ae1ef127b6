package transfer

import (
	"context"
	"time"

	"transect/client/fault"
	"transect/client/wait"
)

// budgetKey is the context key of the budget whose connection is in use.
type budgetKey struct{}

// withConnection returns the context of work that holds a connection of b.
func withConnection(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// Backoff runs a wait on behalf of a request. If ctx belongs to a transfer, its
// connection is released to others meanwhile and acquired again before Backoff
// returns.
func Backoff(ctx context.Context, wait func() error) error {
	b, ok := ctx.Value(budgetKey{}).(*Budget)
	if !ok {
		return wait()
	}
	b.Release()
	err := wait()
	if err == nil {
		if err = b.Acquire(ctx); err == nil {
			return nil
		}
	}
	// The holder releases the connection again, so it has to be counted even
	// when the limit is exceeded. The transfer is over: it moves no more bytes.
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used++
	return err
}

// backoff waits before a retry, after an error.
func (t *Transfers) backoff(ctx context.Context, attempt int, err error) error {
	delay := wait.Backoff(attempt, time.Second, 16*time.Second)
	t.transport.Waiting(attempt, delay, err)
	return Backoff(ctx, func() error {
		if t.Sleep(ctx, delay) != nil {
			return fault.Stopped(ctx)
		}
		return nil
	})
}
