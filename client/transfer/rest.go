package transfer

import "context"

// slotKey is the context key of the budget a connection is held of.
type slotKey struct{}

// holding is the context of work that holds a connection of a budget.
func holding(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, slotKey{}, b)
}

// Resting runs a wait on behalf of a request: before a repeat, for a host's
// sake. When the context is that of a transfer, its connection is lent to
// others meanwhile, and taken again before Resting returns.
func Resting(ctx context.Context, wait func() error) error {
	if b, ok := ctx.Value(slotKey{}).(*Budget); ok {
		return b.away(ctx, wait)
	}
	return wait()
}

// rest waits before a repeat.
func (t *Transfers) rest(ctx context.Context, attempt int) error {
	return Resting(ctx, func() error { return t.pause(ctx, attempt) })
}

// away gives a connection back for the time of a wait. Whatever the outcome, it
// is held again afterwards: its holder will give it back.
func (b *Budget) away(ctx context.Context, wait func() error) error {
	b.Release()
	err := wait()
	if err == nil {
		if err = b.Acquire(ctx); err == nil {
			return nil
		}
	}
	// It is over. One more than allowed does not count: it moves nothing.
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used++
	return err
}
