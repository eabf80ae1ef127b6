package transfer

import (
	"container/list"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"transect/client/fault"
	"transect/client/wait"
)

const (
	// MostConnections is the default maximum of a self-tuning budget.
	MostConnections = 128
	// slotBytes is the size of a slot: one request, or this many bytes of a transfer in flight.
	slotBytes = 64 << 10
	// firstSlots is the initial limit of a self-tuning budget: many small files, or a large one and
	// the beginning of the next.
	firstSlots = 16
	// slotsPerConnection bounds the slots.
	slotsPerConnection = 256
	// instant is a period whose recent throughput may be in flight on top of the slots, so that a
	// fast line is filled without trials.
	instant = 250 * time.Millisecond
)

// Budget is a number of connections shared by all transfers: files, parts and downloads alike. A
// self-tuning budget also bounds the bytes in flight: a slow line carries a few large files at a
// time, which finish soon, a fast line many. It is safe for concurrent use.
type Budget struct {
	mu      sync.Mutex
	most    int       // connections
	used    int       // connections
	load    int64     // bytes that the connections have yet to move, plus slotBytes for each
	waiting list.List // of *Connection, in the order of their turns
	turns   atomic.Int64
	lately  float64 // bytes moved in the last instant, as of moved
	moved   time.Time
	window  *window // nil when the number is fixed
	tuner   *tuner
	now     func() time.Time
}

// NewBudget allows n transfers of bytes at a time, at least one.
func NewBudget(n int) *Budget { return &Budget{most: max(n, 1), now: time.Now} }

// NewTunedBudget starts with few bytes in flight, adds more while that increases the throughput,
// over at most so many connections, and reduces them when the server is overloaded.
func NewTunedBudget(most int) *Budget {
	b := NewBudget(most)
	b.tuner = newTuner(b.most * slotsPerConnection)
	b.window = &window{start: b.now()}
	return b
}

// Limit returns how many small transfers are currently allowed.
func (b *Budget) Limit() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tuner != nil {
		return min(b.tuner.limit, b.most)
	}
	return b.most
}

// Most returns the maximum of Limit.
func (b *Budget) Most() int { return b.most }

// Active returns how many transfers currently hold a connection.
func (b *Budget) Active() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Queued returns how many transfers wait for a connection.
func (b *Budget) Queued() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting.Len()
}

// Turn returns a new place in the queue: files begun first are finished first.
func (b *Budget) Turn() int64 { return b.turns.Add(1) }

// Connection is the right to transfer bytes.
type Connection struct {
	budget   *Budget
	turn     int64
	left     int64 // bytes yet to move
	admitted chan struct{}
}

// Acquire waits for a connection for so many bytes. It fails only when ctx ends.
func (b *Budget) Acquire(ctx context.Context, turn, bytes int64) (*Connection, error) {
	c := &Connection{budget: b, turn: turn, left: bytes}
	return c, c.acquire(ctx)
}

func (c *Connection) acquire(ctx context.Context) error {
	b := c.budget
	b.mu.Lock()
	if ctx.Err() != nil {
		b.mu.Unlock()
		return fault.Stopped(ctx)
	}
	if b.used == 0 && b.window != nil { // idle until now: no evidence
		b.window.restart(b.now())
	}
	c.admitted = make(chan struct{})
	before := b.waiting.Back()
	for before != nil && before.Value.(*Connection).turn > c.turn {
		before = before.Prev()
	}
	var element *list.Element
	if before != nil {
		element = b.waiting.InsertAfter(c, before)
	} else {
		element = b.waiting.PushFront(c)
	}
	b.admit()
	b.mu.Unlock()
	select {
	case <-c.admitted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-c.admitted: // admitted at the same moment: pass it on
		b.take(c, -1)
	default:
		b.waiting.Remove(element)
	}
	b.admit()
	return fault.Stopped(ctx)
}

// take adds n (1 or -1) to the connections in use, with the load of c.
func (b *Budget) take(c *Connection, n int) {
	b.used += n
	b.load += int64(n) * (slotBytes + c.left)
}

// Release returns a connection.
func (c *Connection) Release() {
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.budget.take(c, -1)
	c.budget.admit()
}

// admit admits waiting transfers.
func (b *Budget) admit() {
	limit, now := int64(math.MaxInt64), time.Time{}
	if b.tuner != nil {
		now = b.now()
		b.age(now)
		limit = int64(b.tuner.limit)*slotBytes + int64(b.lately)
	}
	for b.used < b.most && b.load < limit && b.waiting.Len() > 0 {
		c, _ := b.waiting.Remove(b.waiting.Front()).(*Connection)
		b.take(c, 1)
		close(c.admitted)
	}
	if b.tuner != nil { // only windows that hit the limit show whether a higher one would help
		b.window.note(now, b.used, b.waiting.Len() > 0 && b.used < b.most && int64(b.lately) < limit/2)
	}
}

// age discounts bytes that moved before the last instant.
func (b *Budget) age(now time.Time) {
	b.lately *= math.Exp(-float64(now.Sub(b.moved)) / float64(instant))
	b.moved = now
}

// expect sets how many bytes are still to be moved.
func (c *Connection) expect(bytes int64) {
	if c == nil {
		return
	}
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.budget.load += bytes - c.left
	c.left = bytes
}

// moved counts bytes that were received or confirmed by the server; negative when they must be sent again.
func (c *Connection) moved(n int64) {
	if c == nil || n == 0 {
		return
	}
	b := c.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	left := max(c.left-n, 0)
	b.load += left - c.left
	c.left = left
	b.observe(max(n, 0), 0)
}

// Answered counts a request that succeeded.
func (b *Budget) Answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.observe(0, 1)
}

// observe feeds the tuner once the window holds enough data.
func (b *Budget) observe(bytes, requests int64) {
	if b.tuner != nil {
		b.age(b.now())
		b.lately += float64(bytes)
		b.window.bytes += bytes
		b.window.requests += requests
		if now := b.now(); b.window.full(now, b.tuner) {
			b.tuner.observe(b.window.end(now, b.tuner))
		}
	}
	b.admit()
}

// Overloaded reports an overloaded server: it asked to retry later, did not answer, or dropped a connection.
func (b *Budget) Overloaded() {
	if b.tuner == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tuner.overloaded()
	b.window.restart(b.now())
	b.admit()
}

// connectionKey is the context key of the connection in use.
type connectionKey struct{}

// withConnection returns the context of work that holds a connection.
func withConnection(ctx context.Context, c *Connection) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// connectionOf returns the connection that work holds, or nil.
func connectionOf(ctx context.Context) *Connection {
	c, _ := ctx.Value(connectionKey{}).(*Connection)
	return c
}

// Backoff runs a wait on behalf of a request. If ctx belongs to a transfer, its connection is
// released meanwhile and acquired again before Backoff returns.
func Backoff(ctx context.Context, wait func() error) error {
	c := connectionOf(ctx)
	if c == nil {
		return wait()
	}
	c.Release()
	err := wait()
	if err == nil {
		if err = c.acquire(ctx); err == nil {
			return nil
		}
	}
	// The caller releases the connection again, so it must be counted even beyond the limit. The
	// transfer is over: it moves no more bytes.
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.budget.take(c, 1)
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
