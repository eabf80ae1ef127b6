package platform

import (
	"context"
	"log/slog"
	"net"
	"net/http"

	"transect/client/fault"
)

// Address is the base address to use with RoundTripper. Nothing resolves it.
const Address = "http://transect.local"

// RoundTripper answers requests inside the process, whatever host they name. They
// go over in-memory connections to the same handlers as those over TCP.
func (p *Platform) RoundTripper() http.RoundTripper {
	return inProcess{&http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			client, server := net.Pipe()
			select {
			case p.pipes <- server:
				return client, nil
			case <-p.closing.Done():
				return nil, fault.Of(&fault.PlatformError{}, "the local platform is closed")
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

type inProcess struct{ transport *http.Transport }

// RoundTrip closes the body of a cancelled request: http.Transport may wait for
// a read of it that never ends.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		stop := context.AfterFunc(r.Context(), func() { r.Body.Close() })
		defer stop()
	}
	response, err := t.transport.RoundTrip(r)
	if err != nil && r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	return response, err
}

// CloseIdleConnections is what http.Client calls.
func (t inProcess) CloseIdleConnections() { t.transport.CloseIdleConnections() }

// servePipes answers the requests of RoundTrippers until the platform closes, which
// interrupts those in progress.
func (p *Platform) servePipes() {
	p.pipes = make(chan net.Conn)
	p.server = &http.Server{
		Handler:     p.counted(p.handler),
		ErrorLog:    slog.NewLogLogger(p.log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return p.closing },
	}
	go p.server.Serve(pipeListener{p})
}

// counted counts the requests in progress, which Close waits for.
func (p *Platform) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		p.inFlight.Add(1)
		p.mu.Unlock()
		defer p.inFlight.Done()
		h.ServeHTTP(w, r)
	})
}

// pipeListener accepts the connections of RoundTrippers.
type pipeListener struct{ p *Platform }

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.p.pipes:
		return conn, nil
	case <-l.p.closing.Done():
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error   { return nil }
func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "in-process"} }
