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

// meteredCaller reports the requests of transfers to the budget and the stats.
type meteredCaller struct {
	Caller
	*Transfers
}

func (m meteredCaller) Call(ctx context.Context, service, route string, body, out any) error {
	defer m.Stats.since(onServer, time.Now())
	return m.observe(ctx, m.Caller.Call(ctx, service, route, body, out))
}

func (m meteredCaller) Post(ctx context.Context, path string, query url.Values, body func() (io.ReadCloser, error), size int64) error {
	return m.observe(ctx, m.Caller.Post(ctx, path, query, body, size))
}

func (m meteredCaller) Put(ctx context.Context, url string, header http.Header, body func() (io.ReadCloser, error), size int64) (int, error) {
	status, err := m.Caller.Put(ctx, url, header, body, size)
	if err == nil && overloaded(status) {
		m.Budget.Overloaded()
		return status, nil
	}
	return status, m.observe(ctx, err)
}

func (m meteredCaller) Get(ctx context.Context, path string, query url.Values, span Span) (*http.Response, error) {
	began := time.Now()
	answer, err := m.Caller.Get(ctx, path, query, span)
	if err = m.observe(ctx, err); err != nil {
		return nil, err
	}
	now := m.Stats.since(onServer, began)
	m.Stats.active.Add(1)
	answer.Body = &meteredBody{ReadCloser: answer.Body, ctx: ctx, meter: m, last: now}
	return answer, nil
}

// observe tells the budget how a request ended.
func (m meteredCaller) observe(ctx context.Context, err error) error {
	var refused *fault.ResponseError
	var silent *fault.TimeoutError
	var broken *fault.ConnectionError
	switch {
	case err == nil:
		m.Budget.Answered()
	case ctx.Err() != nil:
	case errors.As(err, &refused) && overloaded(refused.Status), errors.As(err, &silent), errors.As(err, &broken):
		m.Budget.Overloaded()
	}
	return err
}

func overloaded(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == http.StatusRequestTimeout
}

// meteredBody is the body of an answer being received.
type meteredBody struct {
	io.ReadCloser
	ctx    context.Context
	meter  meteredCaller
	last   time.Time // when bytes were last returned
	closed sync.Once
}

func (b *meteredBody) Read(p []byte) (int, error) {
	now := b.meter.Stats.since(onDisk, b.last)
	if b.meter.Bandwidth != nil {
		n, err := b.meter.Bandwidth.Take(b.ctx, len(p))
		if err != nil {
			return 0, err
		}
		p = p[:n]
		now = b.meter.Stats.since(onLimit, now)
	}
	n, err := b.ReadCloser.Read(p)
	b.last = b.meter.Stats.since(onNetwork, now)
	b.meter.Stats.received.Add(int64(n))
	b.meter.Budget.Transferred(int64(n))
	return n, err
}

func (b *meteredBody) Close() error {
	b.closed.Do(func() { b.meter.Stats.active.Add(-1) })
	return b.ReadCloser.Close()
}
