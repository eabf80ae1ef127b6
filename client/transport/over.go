package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"transect/client/fault"
	"transect/client/transport/httpcore"
)

// addOverlay inserts the layer from Options.Over between the callers of a transport and the platform.
func (t *Transport) addOverlay() error {
	if t.options.Over == nil {
		return nil
	}
	over, err := t.options.Over(t.options.BaseURL, below{t})
	if err != nil {
		return err
	}
	t.over, err = httpcore.New(httpcore.Options{Local: over})
	return err
}

// passing is a context value for requests to the layer of Options.Over: the call or exchange they came from.
type passing struct {
	call     *call
	exchange *exchange
}

type passingKey struct{}

// askOver sends a call to the layer of Options.Over, once: the layer retries what it sends below.
func (t *Transport) askOver(ctx context.Context, c call) (*answer, error) {
	u, err := t.locate(c.Path, c.Query)
	if err != nil {
		return nil, fault.In(c.Operation, err)
	}
	a, err := t.once(context.WithValue(ctx, passingKey{}, passing{call: &c}), c, u, &pacer{}, nil, 1)
	if _, failure := t.assess(ctx, c, u, &pacer{reached: true}, a, err); failure != nil {
		return nil, fault.In(c.Operation, failure)
	}
	return a, nil
}

// below sends the requests of the layer of Options.Over to the platform, by the rules of the transport: with
// its token, retries, limits and names, and errors without secrets. The layer's own requests are sent like a
// call that reads.
type below struct{ t *Transport }

// RoundTrip implements http.RoundTripper. An error status of the platform is returned as an error.
func (b below) RoundTrip(req *http.Request) (*http.Response, error) {
	p, _ := req.Context().Value(passingKey{}).(passing)
	ctx := context.WithValue(req.Context(), passingKey{}, nil)
	if p.exchange != nil {
		a, err := b.t.exchange(ctx, p.exchange)
		if err != nil {
			return nil, err
		}
		b.t.trace(p.exchange, a, nil)
		return a.Response, nil
	}
	if p.call == nil {
		path, _ := strings.CutPrefix(req.URL.EscapedPath(), b.t.base.EscapedPath())
		p.call = &call{Request: Request{Repeatable: true, Method: req.Method, Path: path, Query: req.URL.Query()}}
		if req.Body != nil {
			var err error
			if p.call.Body, err = io.ReadAll(req.Body); err != nil {
				return nil, err
			}
		}
	}
	c := *p.call
	c.below, c.Buffer = true, nil
	a, err := b.t.send(ctx, c)
	if err != nil {
		return nil, err
	}
	if !c.stream {
		a.Response.Body, a.Response.ContentLength = io.NopCloser(bytes.NewReader(a.body)), int64(len(a.body))
	}
	return a.Response, nil
}
