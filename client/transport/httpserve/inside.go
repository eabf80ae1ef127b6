package httpserve

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Inside answers requests inside the process, over in-memory connections to the
// same kind of server as over TCP.
type Inside struct {
	server   *http.Server
	pipes    chan net.Conn
	closing  context.Context
	refused  error
	mu       sync.Mutex
	closed   bool
	inFlight sync.WaitGroup // requests in progress
}

// NewInside returns a server that answers requests until closing ends, which interrupts requests in progress.
// Later ones fail with refused.
func (s Server) NewInside(closing context.Context, refused error) *Inside {
	in := &Inside{pipes: make(chan net.Conn), closing: closing, refused: refused}
	s.Handler = in.counted(s.Handler)
	in.server = s.server(closing)
	go in.server.Serve(pipes{in}) //nolint:errcheck // it ends when the server is closed
	return in
}

// Close ends all connections and waits for the requests in progress. The context of NewInside must have ended
// before.
func (in *Inside) Close() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.server.Close()
	in.inFlight.Wait()
}

// counted counts the requests in progress.
func (in *Inside) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in.mu.Lock()
		if in.closed {
			in.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		in.inFlight.Add(1)
		in.mu.Unlock()
		defer in.inFlight.Done()
		h.ServeHTTP(w, r)
	})
}

// RoundTripper returns a transport that sends requests for any host to the server.
func (in *Inside) RoundTripper() http.RoundTripper {
	return roundTripper{&http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			client, server := net.Pipe()
			select {
			case in.pipes <- server:
				return client, nil
			case <-in.closing.Done():
				return nil, in.refused
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		DisableCompression:  true,
		MaxIdleConnsPerHost: 100,
		WriteBufferSize:     64 << 10,
		ReadBufferSize:      64 << 10,
	}}
}

type roundTripper struct{ *http.Transport }

// RoundTrip closes the body of a cancelled request: http.Transport may wait for
// a read of it that never ends.
func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		stop := context.AfterFunc(r.Context(), func() { r.Body.Close() })
		defer stop()
	}
	response, err := t.Transport.RoundTrip(r)
	if err != nil && r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	return response, err
}

// pipes accepts the connections of the round trippers.
type pipes struct{ *Inside }

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.pipes:
		return conn, nil
	case <-p.closing.Done():
		return nil, net.ErrClosed
	}
}

func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "in-process"} }
