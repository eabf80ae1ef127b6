package transfer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"transect/client/fault"
)

// metered tells the budget what the requests of transfers move and meet.
type metered struct {
	Caller
	budget *Budget
}

func (m metered) Call(ctx context.Context, service, route string, body, out any) error {
	return m.noted(ctx, m.Caller.Call(ctx, service, route, body, out))
}

func (m metered) Post(ctx context.Context, path string, query url.Values, body func() (io.ReadCloser, error), size int64) error {
	return m.noted(ctx, m.Caller.Post(ctx, path, query, m.counted(body), size))
}

func (m metered) Put(ctx context.Context, address string, header http.Header, body func() (io.ReadCloser, error), size int64) (int, error) {
	status, err := m.Caller.Put(ctx, address, header, m.counted(body), size)
	if err == nil && busy(status) {
		m.budget.Overloaded()
		return status, nil
	}
	return status, m.noted(ctx, err)
}

func (m metered) Get(ctx context.Context, path string, query url.Values, from int64) (*http.Response, error) {
	answer, err := m.Caller.Get(ctx, path, query, from)
	if err = m.noted(ctx, err); err != nil {
		return nil, err
	}
	answer.Body = &meteredBody{ReadCloser: answer.Body, meter: m}
	return answer, nil
}

// counted makes the bytes of a body count.
func (m metered) counted(open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		body, err := open()
		if err != nil {
			return nil, err
		}
		return &meteredBody{ReadCloser: body, meter: m}, nil
	}
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

// meteredBody is what is being sent or received.
type meteredBody struct {
	io.ReadCloser
	meter metered
}

func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.meter.budget.Moved(int64(n))
	return n, err
}
