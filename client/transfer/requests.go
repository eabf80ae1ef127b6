package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"transect/client/fault"
	"transect/client/transport"
)

const service = "/data-manager/"

// call posts a JSON body to a route of the service and decodes the answer into out, if not nil. The
// request may be repeated.
func (t *Transfers) call(ctx context.Context, route string, body map[string]any, out any) error {
	defer t.Stats.since(onServer, time.Now())
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	answer, err := t.transport.Do(ctx, transport.Request{Repeatable: true, Path: service + route, Body: text})
	if err = t.observe(ctx, err); err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer.Body, out); err != nil {
		return fault.Hinted(fault.Of(&fault.QueryError{}, "the platform's answer to %s is malformed: %w", route, err),
			"check whether a proxy changes answers; running again is safe")
	}
	return nil
}

// get opens a download for reading.
func (t *Transfers) get(ctx context.Context, d Download, s span) (*http.Response, error) {
	return t.OpenDownload(ctx, d, s.header())
}

// OpenDownload opens a download for reading, limited to the range in header, if any. The caller
// closes the body.
func (t *Transfers) OpenDownload(ctx context.Context, d Download, header http.Header) (*http.Response, error) {
	began := time.Now()
	r := transport.Request{Repeatable: true, Method: http.MethodGet, Path: d.Path, Query: d.Query, Header: header}
	if d.Body != nil {
		r.Method, r.Body, r.Header = http.MethodPost, d.Body, nil
	}
	answer, err := t.transport.Stream(ctx, r)
	if err = t.observe(ctx, err); err != nil {
		return nil, err
	}
	now := t.Stats.since(onServer, began)
	t.Stats.active.Add(1)
	answer.Body = &meteredBody{ReadCloser: answer.Body, Transfers: t, ctx: ctx, last: now}
	return answer, nil
}

// observe reports the outcome of a request to the budget.
func (t *Transfers) observe(ctx context.Context, err error) error {
	var refused *fault.ResponseError
	var silent *fault.TimeoutError
	var broken *fault.ConnectionError
	switch {
	case err == nil:
		t.Budget.Answered()
	case ctx.Err() != nil:
	case errors.As(err, &refused) && overloaded(refused.Status), errors.As(err, &silent), errors.As(err, &broken):
		t.Budget.Overloaded()
	}
	return err
}

func overloaded(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable ||
		status == http.StatusRequestTimeout
}

// meteredBody is the body of an answer being received.
type meteredBody struct {
	io.ReadCloser
	*Transfers
	ctx    context.Context
	last   time.Time // when bytes were last returned
	closed sync.Once
}

func (b *meteredBody) Read(p []byte) (int, error) {
	now := b.Stats.since(onDisk, b.last)
	p, now, err := b.limited(b.ctx, p, now)
	if err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.last = b.Stats.since(onNetwork, now)
	b.Stats.received.Add(int64(n))
	connectionOf(b.ctx).moved(int64(n))
	return n, err
}

func (b *meteredBody) Close() error {
	b.closed.Do(func() { b.Stats.active.Add(-1) })
	return b.ReadCloser.Close()
}

// limited returns the part of p that the bandwidth limit permits now, and the time.
func (t *Transfers) limited(ctx context.Context, p []byte, now time.Time) ([]byte, time.Time, error) {
	if t.Bandwidth == nil || len(p) == 0 {
		return p, now, nil
	}
	n, err := t.Bandwidth.Take(ctx, len(p))
	return p[:n], t.Stats.since(onLimit, now), err
}
