package transfer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"transect/client/fault"
)

// metered tells the budget and the counters what the requests of transfers
// move and meet.
type metered struct {
	Caller
	*Transfers
}

func (m metered) Call(ctx context.Context, service, route string, body, out any) error {
	defer m.stats.since(onServer, time.Now())
	return m.noted(ctx, m.Caller.Call(ctx, service, route, body, out))
}

func (m metered) Post(ctx context.Context, path string, query url.Values, body func() (io.ReadCloser, error), size int64) error {
	return m.noted(ctx, m.Caller.Post(ctx, path, query, body, size))
}

func (m metered) Put(ctx context.Context, address string, header http.Header, body func() (io.ReadCloser, error), size int64) (int, error) {
	status, err := m.Caller.Put(ctx, address, header, body, size)
	if err == nil && busy(status) {
		m.budget.Overloaded()
		return status, nil
	}
	return status, m.noted(ctx, err)
}

func (m metered) Get(ctx context.Context, path string, query url.Values, part Span) (*http.Response, error) {
	began := time.Now()
	answer, err := m.Caller.Get(ctx, path, query, part)
	if err = m.noted(ctx, err); err != nil {
		return nil, err
	}
	m.stats.since(onServer, began)
	m.stats.active.Add(1)
	answer.Body = &meteredBody{ReadCloser: answer.Body, ctx: ctx, meter: m, last: time.Now()}
	return answer, nil
}

// noted tells the budget how a request ended.
func (m metered) noted(ctx context.Context, err error) error {
	var refused *fault.ResponseError
	var silent *fault.TimeoutError
	var broken *fault.ConnectionError
	switch {
	case err == nil:
		m.budget.Answered()
	case ctx.Err() != nil:
	case errors.As(err, &refused) && busy(refused.Status), errors.As(err, &silent), errors.As(err, &broken):
		m.budget.Overloaded()
	}
	return err
}

// busy statuses ask for patience.
func busy(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == http.StatusRequestTimeout
}

// meteredBody is what is being received.
type meteredBody struct {
	io.ReadCloser
	ctx    context.Context
	meter  metered
	last   time.Time // when bytes were last handed over
	closed sync.Once
}

func (b *meteredBody) Read(p []byte) (int, error) {
	now := b.meter.stats.since(onDisk, b.last)
	if b.meter.bandwidth != nil {
		n, err := b.meter.bandwidth.Take(b.ctx, len(p))
		if err != nil {
			return 0, err
		}
		p = p[:n]
		now = b.meter.stats.since(onLimit, now)
	}
	n, err := b.ReadCloser.Read(p)
	b.last = b.meter.stats.since(onNetwork, now)
	b.meter.stats.received.Add(int64(n))
	b.meter.budget.Moved(int64(n))
	return n, err
}

func (b *meteredBody) Close() error {
	b.closed.Do(func() { b.meter.stats.active.Add(-1) })
	return b.ReadCloser.Close()
}
