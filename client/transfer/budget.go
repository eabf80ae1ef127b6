package transfer

import (
	"container/list"
	"context"
	"sync"
	"time"

	"transect/client/fault"
	"transect/client/wait"
)

const (
	// MostConnections is the default maximum of a budget that tunes itself.
	MostConnections = 128
	// firstConnections is what such a budget starts with.
	firstConnections = 16
)

// Budget is a number of connections shared by all transfers: files, parts and
// downloads alike. It is safe for concurrent use.
type Budget struct {
	mu      sync.Mutex
	limit   int
	used    int
	waiting list.List // of chan struct{}, first come first served
	window  *window   // nil when the number is fixed
	tuner   *tuner
	now     func() time.Time
}

// NewBudget allows n transfers of bytes at a time, at least one.
func NewBudget(n int) *Budget { return &Budget{limit: max(n, 1), now: time.Now} }

// NewTunedBudget starts with few connections, adds more as long as that
// increases the throughput, up to most, and reduces them when the other side is
// overloaded.
func NewTunedBudget(most int) *Budget {
	b := &Budget{now: time.Now, tuner: newTuner(most)}
	b.limit = b.tuner.limit
	b.window = &window{start: b.now()}
	return b
}

// Limit is how many transfers are allowed at the moment.
func (b *Budget) Limit() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit
}

// Most is the maximum of Limit.
func (b *Budget) Most() int {
	if b.tuner != nil {
		return b.tuner.most
	}
	return b.limit
}

// Active is how many transfers hold a connection at the moment.
func (b *Budget) Active() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Queued is how many wait for a connection.
func (b *Budget) Queued() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting.Len()
}

// Acquire waits for a connection. The error is that of the ended context.
func (b *Budget) Acquire(ctx context.Context) error {
	b.mu.Lock()
	if ctx.Err() != nil {
		b.mu.Unlock()
		return fault.Stopped(ctx)
	}
	if b.used < b.limit && b.waiting.Len() == 0 {
		if b.used == 0 && b.window != nil { // the time before was idle, and says nothing
			b.window.restart(b.now(), false)
		}
		b.used++
		b.mu.Unlock()
		return nil
	}
	admitted := make(chan struct{})
	element := b.waiting.PushBack(admitted)
	b.contend()
	b.mu.Unlock()
	select {
	case <-admitted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-admitted: // at the same moment: pass it on
		b.used--
		b.admit()
	default:
		b.waiting.Remove(element)
		b.contend()
	}
	return fault.Stopped(ctx)
}

// Release returns a connection.
func (b *Budget) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used--
	b.admit()
}

// admit admits waiting transfers up to the limit.
func (b *Budget) admit() {
	for b.used < b.limit && b.waiting.Len() > 0 {
		admitted, _ := b.waiting.Remove(b.waiting.Front()).(chan struct{})
		b.used++
		close(admitted)
	}
	b.contend()
}

// contend records whether somebody waits: only windows in which all connections
// were in demand say whether another one would help.
func (b *Budget) contend() {
	if b.window != nil {
		b.window.contend(b.now(), b.waiting.Len() > 0)
	}
}

// Transferred counts bytes sent or received over a connection of the budget.
func (b *Budget) Transferred(n int64) { b.observe(n, 0) }

// Answered counts a request that was carried out.
func (b *Budget) Answered() { b.observe(0, 1) }

// observe feeds the tuner once the window holds enough.
func (b *Budget) observe(bytes, requests int64) {
	if b.tuner == nil || bytes+requests <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.window.bytes += bytes
	b.window.requests += requests
	if now := b.now(); b.window.full(now, b.limit, b.tuner.starting) {
		b.tuner.observe(b.window.end(now))
		b.follow()
	}
}

// Overloaded tells that the other side is overloaded: it asked to retry later,
// did not answer, or broke a connection off.
func (b *Budget) Overloaded() {
	if b.tuner == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tuner.overloaded()
	b.follow()
}

// follow takes over the tuner's limit.
func (b *Budget) follow() {
	if b.limit != b.tuner.limit {
		b.limit = b.tuner.limit
		b.window.restart(b.now(), b.waiting.Len() > 0)
	}
	b.admit()
}

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
	delay := wait.Backoff(attempt, time.Second, longestBackoff)
	t.transport.Waiting(attempt, delay, err)
	return t.sleep(ctx, delay)
}

// sleep waits without holding a connection.
func (t *Transfers) sleep(ctx context.Context, d time.Duration) error {
	return Backoff(ctx, func() error {
		if t.Sleep(ctx, d) != nil {
			return fault.Stopped(ctx)
		}
		return nil
	})
}
