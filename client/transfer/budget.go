package transfer

import (
	"container/list"
	"context"
	"sync"
	"time"

	"transect/client/fault"
)

const (
	// MostConnections is how far a budget that tunes itself goes unless told
	// otherwise.
	MostConnections = 64
	// firstConnections is what such a budget starts with.
	firstConnections = 4
)

// Budget is a number of connections shared by all transfers: files, parts and
// downloads alike. It is safe for concurrent use.
type Budget struct {
	mu      sync.Mutex
	limit   int
	used    int
	waiting list.List // of chan struct{}, first come first served
	meter   *window   // nil when the number is fixed
	tuner   *tuner
	now     func() time.Time
}

// NewBudget allows n transfers of bytes at a time, at least one.
func NewBudget(n int) *Budget { return &Budget{limit: max(n, 1), now: time.Now} }

// NewTunedBudget starts with few connections and takes more for as long as
// that moves more, up to most; it takes fewer when the other side complains.
func NewTunedBudget(most int) *Budget {
	b := &Budget{now: time.Now, tuner: newTuner(most)}
	b.limit = b.tuner.limit
	b.meter = &window{start: b.now()}
	return b
}

// Limit is how many transfers are allowed at the moment.
func (b *Budget) Limit() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit
}

// Most is how many transfers there will be at a time at most.
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
		b.used++
		b.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	place := b.waiting.PushBack(turn)
	b.clock()
	b.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-turn: // it came at the same time: pass it on
		b.used--
		b.admit()
	default:
		b.waiting.Remove(place)
		b.clock()
	}
	return fault.Stopped(ctx)
}

// Release gives a connection back.
func (b *Budget) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used--
	b.admit()
}

// admit lets in who waits, as far as the limit goes.
func (b *Budget) admit() {
	for b.used < b.limit && b.waiting.Len() > 0 {
		turn, _ := b.waiting.Remove(b.waiting.Front()).(chan struct{})
		b.used++
		close(turn)
	}
	b.clock()
}

// clock notes when somebody began or ceased to wait: only what happens while
// all connections are wanted says whether another one would help.
func (b *Budget) clock() {
	if b.meter != nil {
		b.meter.contend(b.now(), b.waiting.Len() > 0)
	}
}

// Moved notes bytes that moved over a connection of the budget.
func (b *Budget) Moved(n int64) {
	if b.tuner == nil || n <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.meter.bytes += n
	b.measure()
}

// Answered notes a request that was carried out.
func (b *Budget) Answered() {
	if b.tuner == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.meter.requests++
	b.measure()
}

// Overloaded notes that the other side complained: it asked for patience, was
// silent, or broke a connection off.
func (b *Budget) Overloaded() {
	if b.tuner == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tuner.overloaded()
	b.follow()
}

// measure ends the window when it holds enough, and follows the tuner.
func (b *Budget) measure() {
	now := b.now()
	if !b.meter.full(now, b.limit, b.tuner.starting) {
		return
	}
	b.tuner.observe(b.meter.end(now))
	b.follow()
}

func (b *Budget) follow() {
	if b.limit != b.tuner.limit {
		b.limit = b.tuner.limit
		b.meter.restart(b.now(), b.waiting.Len() > 0)
	}
	b.admit()
}
