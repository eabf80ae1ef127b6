package platform

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"transect/client/fault"
)

// Address is the base address to use with RoundTripper. Nothing resolves it.
const Address = "http://transect.local"

// RoundTripper answers requests inside the process, whatever host they name.
// Bodies stream both ways, and the request's context stops its handler.
func (p *Platform) RoundTripper() http.RoundTripper { return inProcess{p} }

type inProcess struct{ p *Platform }

func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	err := r.Context().Err()
	if err == nil && !t.p.begin() {
		err = errClosed()
	}
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	stopClosing := context.AfterFunc(t.p.closing, cancel)
	served := r.Clone(ctx)
	served.RequestURI = r.URL.RequestURI()
	served.RemoteAddr = "in-process"
	if served.Host == "" {
		served.Host = r.URL.Host
	}
	served.Body = http.NoBody
	if r.Body != nil {
		served.Body = &requestBody{ctx: ctx, body: r.Body}
	}

	body, pipe := io.Pipe()
	w := &responseWriter{header: http.Header{}, pipe: pipe, ready: make(chan struct{}), response: &http.Response{
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Request: r,
		Body: &responseBody{PipeReader: body, ctx: r.Context(), cancel: cancel},
	}}
	stopWriting := context.AfterFunc(ctx, func() { pipe.CloseWithError(ctx.Err()) })
	go func() {
		defer t.p.inFlight.Done()
		defer cancel()
		defer stopWriting()
		defer stopClosing()
		defer served.Body.Close()
		panicked := func() (v any) {
			defer func() { v = recover() }()
			t.p.handler.ServeHTTP(w, served)
			return nil
		}()
		w.finish(panicked)
	}()
	select {
	case <-w.ready:
	case <-ctx.Done():
	}
	// A cancelled request has no answer, even when one came in the same moment.
	if err := r.Context().Err(); err != nil {
		served.Body.Close()
		return nil, err
	}
	select {
	case <-w.ready:
		if w.response.StatusCode == 0 {
			return nil, w.err
		}
		return w.response, nil
	case <-t.p.closing.Done():
		served.Body.Close()
		return nil, errClosed()
	}
}

func errClosed() error { return fault.Of(&fault.PlatformError{}, "the local platform is closed") }

// requestBody stops giving bytes when the request is cancelled.
type requestBody struct {
	ctx  context.Context
	body io.ReadCloser
	once sync.Once
}

func (b *requestBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.body.Read(p)
}

func (b *requestBody) Close() (err error) {
	b.once.Do(func() { err = b.body.Close() })
	return err
}

// responseWriter hands the response over with its status, and the body through
// a pipe.
type responseWriter struct {
	header   http.Header
	response *http.Response
	pipe     *io.PipeWriter
	ready    chan struct{} // closed once there is a status, or err
	err      error         // why there is no status
}

func (w *responseWriter) Header() http.Header { return w.header }

func (w *responseWriter) WriteHeader(status int) {
	if w.response.StatusCode != 0 || status < 200 {
		return
	}
	w.response.StatusCode, w.response.Status = status, strconv.Itoa(status)+" "+http.StatusText(status)
	w.response.Header = w.header.Clone()
	if length, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); err == nil {
		w.response.ContentLength = length
	}
	close(w.ready)
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(p)
}

// Flush sends the header.
func (w *responseWriter) Flush() { w.WriteHeader(http.StatusOK) }

// finish ends the response; panicked is what the handler panicked with.
func (w *responseWriter) finish(panicked any) {
	switch panicked {
	case nil:
		w.WriteHeader(http.StatusOK)
	case http.ErrAbortHandler:
		w.err = io.ErrUnexpectedEOF
	default:
		w.err = fmt.Errorf("the handler failed: %v", panicked)
	}
	w.pipe.CloseWithError(w.err)
	if w.response.StatusCode == 0 {
		close(w.ready)
	}
}

// responseBody is the body of a response. Closing it early stops the handler.
type responseBody struct {
	*io.PipeReader
	ctx    context.Context // of the request
	cancel context.CancelFunc
}

// Read fails from the moment the request is cancelled, even when the handler has
// not noticed yet.
func (b *responseBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.PipeReader.Read(p)
}

func (b *responseBody) Close() error {
	err := b.PipeReader.Close()
	b.cancel()
	return err
}
