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
	forget := context.AfterFunc(t.p.closing, cancel)
	served := r.Clone(ctx)
	served.RequestURI = r.URL.RequestURI()
	served.RemoteAddr = "in-process"
	if served.Host == "" {
		served.Host = r.URL.Host
	}
	if r.Body == nil {
		served.Body = http.NoBody
	} else {
		served.Body = &requestBody{ctx: ctx, body: r.Body}
	}

	w := &responseWriter{ctx: ctx, header: http.Header{}, ready: make(chan struct{})}
	go func() {
		defer t.p.inFlight.Done()
		defer forget()
		defer cancel()
		defer served.Body.Close()
		aborted := func() (aborted any) {
			defer func() { aborted = recover() }()
			t.p.handler.ServeHTTP(w, served)
			return nil
		}()
		w.finish(aborted)
	}()
	select {
	case <-w.ready:
	case <-ctx.Done():
	}
	// A request that was given up has no answer, also when the handler gave one
	// in the same moment or told that it was given up.
	if err := r.Context().Err(); err != nil {
		served.Body.Close()
		return nil, err
	}
	select {
	case <-w.ready:
		return w.response(r, cancel)
	case <-t.p.closing.Done():
		served.Body.Close()
		return nil, errClosed()
	}
}

func errClosed() error { return fault.Of(&fault.PlatformError{}, "the local platform is closed") }

// requestBody stops giving bytes when the request is given up.
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

// maxBuffered is how long an answer may be to be handed over in one piece.
const maxBuffered = 64 << 10

// responseWriter keeps a short answer until the handler is done, and turns
// into a pipe for a long one.
type responseWriter struct {
	ctx    context.Context // ends when nobody wants the answer any more
	header http.Header
	sent   http.Header // the header as it was when the status was written
	status int
	buffer []byte
	pipe   *io.PipeWriter
	body   io.ReadCloser
	err    error
	ready  chan struct{}
}

func (w *responseWriter) Header() http.Header { return w.header }

func (w *responseWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.pipe == nil {
		if len(w.buffer)+len(p) <= maxBuffered {
			w.buffer = append(w.buffer, p...)
			return len(p), nil
		}
		if err := w.stream(); err != nil {
			return 0, err
		}
	}
	return w.pipe.Write(p)
}

// stream hands the answer over while it is still being written.
func (w *responseWriter) stream() error {
	r, pipe := io.Pipe()
	w.pipe, w.body = pipe, r
	// Closing the writing side gives the reader the cause and lets the handler
	// go on when there is no reader; it does nothing after the answer's end.
	context.AfterFunc(w.ctx, func() { pipe.CloseWithError(w.ctx.Err()) })
	close(w.ready)
	_, err := pipe.Write(w.buffer)
	w.buffer = nil
	return err
}

// Flush hands over what was written so far.
func (w *responseWriter) Flush() {
	w.WriteHeader(http.StatusOK)
	if w.pipe == nil {
		w.stream()
	}
}

// finish ends the answer; aborted is the value of a panic that was to break it off.
func (w *responseWriter) finish(aborted any) {
	if aborted != nil {
		w.err = io.ErrUnexpectedEOF
		if aborted != http.ErrAbortHandler {
			w.err = fmt.Errorf("the handler failed: %v", aborted)
		}
	}
	if w.pipe != nil {
		w.pipe.CloseWithError(w.err)
		return
	}
	w.WriteHeader(http.StatusOK)
	close(w.ready)
}

func (w *responseWriter) response(r *http.Request, cancel context.CancelFunc) (*http.Response, error) {
	answer := &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, ContentLength: -1, Request: r,
	}
	if w.body == nil {
		if w.err != nil {
			return nil, w.err
		}
		answer.ContentLength = int64(len(w.buffer))
		answer.Body = http.NoBody
		if len(w.buffer) > 0 && r.Method != http.MethodHead {
			answer.Body = &shortBody{rest: w.buffer}
		}
		return answer, nil
	}
	if length, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
		answer.ContentLength = length
	}
	answer.Body = &responseBody{ReadCloser: w.body, ctx: r.Context(), cancel: cancel}
	return answer, nil
}

// shortBody is an answer that is there as a whole.
type shortBody struct{ rest []byte }

func (b *shortBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *shortBody) Close() error {
	b.rest = nil
	return nil
}

// responseBody is an answer still being written. Closing it early stops the handler.
type responseBody struct {
	io.ReadCloser
	ctx    context.Context // of the request
	cancel context.CancelFunc
}

// Read fails from the moment the request is given up, even when the handler
// has not noticed yet.
func (b *responseBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}

func (b *responseBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel()
	return err
}
