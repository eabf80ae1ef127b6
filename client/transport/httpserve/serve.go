// Package httpserve is the HTTP server of the local platform and the page. It listens, limits how long a peer
// may stall and how many connections it may have, and shuts down gracefully (serve.go); it answers requests
// inside the process (inside.go); and it authenticates browsers (gate.go).
package httpserve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"

	"transect/client/fault"
)

// Server configures a server. Zero limits have the defaults below.
type Server struct {
	Handler http.Handler
	Logger  *slog.Logger  // may be nil
	Latency time.Duration // delays each request, as a distant server does
	Limits  Limits
}

const (
	headerTimeout = 30 * time.Second
	idleTimeout   = 5 * time.Minute
	// shutdownTimeout is how long requests in progress may take at shutdown.
	shutdownTimeout = 5 * time.Second
)

// Listen listens on an address, "HOST:PORT".
func Listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "cannot listen on %s: %w", address, fault.Reason(err)),
			"choose another address with --listen; port 0 chooses a free one")
	}
	return listener, nil
}

// IsLocal reports whether only this machine can reach a listener.
func IsLocal(listener net.Listener) bool {
	at, ok := listener.Addr().(*net.TCPAddr)
	return !ok || at.IP.IsLoopback()
}

// Reach returns the host and port under which a listener can be reached: with the name of the machine if it
// listens on all addresses.
func Reach(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip, bad := netip.ParseAddr(host); err == nil && bad == nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			return net.JoinHostPort(name, port)
		}
	}
	return listen
}

// Serve answers the requests of a listener until ctx ends. Then it lets requests in progress finish and
// returns nil.
func (s Server) Serve(ctx context.Context, listener net.Listener) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	limits := s.Limits.filled()
	server := s.server(requests)
	server.Handler = delayed(limits.Handler(s.Handler), s.Latency)
	server.ReadHeaderTimeout, server.IdleTimeout = headerTimeout, idleTimeout
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(limits.Listener(listener)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop, release := context.WithTimeout(requests, shutdownTimeout)
	defer release()
	err := server.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-ended
	return err
}

// server returns an http.Server whose requests end with a context.
func (s Server) server(requests context.Context) *http.Server {
	server := &http.Server{Handler: s.Handler, BaseContext: func(net.Listener) context.Context { return requests }}
	if s.Logger != nil {
		server.ErrorLog = slog.NewLogLogger(s.Logger.Handler(), slog.LevelWarn)
	}
	return server
}

// delayed delays the answer to each request.
func delayed(h http.Handler, by time.Duration) http.Handler {
	if by <= 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(by):
			h.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// StartedWriter records whether a response has begun: after that, a failure can only abort it.
type StartedWriter struct {
	http.ResponseWriter
	Begun bool
}

// WriteHeader begins the response.
func (w *StartedWriter) WriteHeader(status int) {
	w.Begun = true
	w.ResponseWriter.WriteHeader(status)
}

// Write begins the response when nothing was written before.
func (w *StartedWriter) Write(p []byte) (int, error) {
	w.Begun = true
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find the underlying writer.
func (w *StartedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// peers counts the connections of each peer.
type peers struct {
	net.Listener
	most int
	mu   sync.Mutex
	open map[string]int
}

// Accept returns the next connection. It closes connections beyond a peer's limit at once.
func (p *peers) Accept() (net.Conn, error) {
	for {
		conn, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		p.mu.Lock()
		free := p.open[peer] < p.most
		if free {
			p.open[peer]++
		}
		p.mu.Unlock()
		if free {
			return &peerConn{Conn: conn, leave: sync.OnceFunc(func() { p.leave(peer) })}, nil
		}
		conn.Close()
	}
}

func (p *peers) leave(peer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[peer]--; p.open[peer] == 0 {
		delete(p.open, peer)
	}
}

type peerConn struct {
	net.Conn
	leave func()
}

func (c *peerConn) Close() error {
	c.leave()
	return c.Conn.Close()
}
