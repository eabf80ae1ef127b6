package platform

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"transect/client/atomicfile"
	"transect/client/fault"
)

const (
	shutdownTimeout = 5 * time.Second // for requests in progress when the server stops
	bodyTimeout     = time.Minute     // between two reads of a request's body
	bodyGrace       = 30 * time.Second
	minBodyRate     = 1 << 10 // bytes a second, after the grace period
)

// Serve answers requests on a listener with h, which passes those of the platform
// on to Handler, until ctx ends. Then it lets those in progress finish and returns
// nil.
func (p *Platform) Serve(ctx context.Context, listener net.Listener, h http.Handler) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler:           delayed(limitStalls(h, bodyTimeout, bodyGrace), p.options.Latency),
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       5 * time.Minute,
		ErrorLog:          slog.NewLogLogger(p.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
	defer p.announce(ctx, listener)()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
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

// delayed answers each request later.
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

// limitStalls fails reads of a request's body during which no byte comes, and
// after a grace period those of a body that comes in trickles.
func limitStalls(h http.Handler, timeout, grace time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &stallLimit{r.Body, http.NewResponseController(w), timeout, grace, grace}
		h.ServeHTTP(w, r)
	})
}

type stallLimit struct {
	io.ReadCloser
	connection     *http.ResponseController
	timeout, grace time.Duration
	left           time.Duration // how long the client may still keep the platform waiting
}

func (b *stallLimit) Read(p []byte) (int, error) {
	began := time.Now()
	b.connection.SetReadDeadline(began.Add(min(b.timeout, b.left)))
	n, err := b.ReadCloser.Read(p)
	// A deadline that passes while the request is worked on would cancel it.
	b.connection.SetReadDeadline(time.Time{})
	b.left += time.Duration(n)*time.Second/minBodyRate - time.Since(began)
	b.left = min(b.left, 10*b.grace)
	return n, err
}

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

// A process that serves the folder writes its address into servedFile and holds
// the lock beside it, so that links to tiles made by other processes lead there.
const (
	servedFile = "served.json"
	servedLock = "served.lock" // the lock of a process that died is free at once
)

type served struct {
	URL string `json:"url"`
}

// announce writes the address of a listener until withdraw is called.
func (p *Platform) announce(ctx context.Context, listener net.Listener) (withdraw func()) {
	path := filepath.Join(p.options.Dir, servedFile)
	lock := flock.New(filepath.Join(p.options.Dir, servedLock), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, 20*time.Millisecond); !ok || err != nil {
		return func() {} // another process serves the folder, too: its address will do
	}
	text, err := json.Marshal(served{addressOf(listener)})
	if err == nil {
		err = atomicfile.Write(path, text, 0o600)
	}
	if err != nil {
		p.log.Warn("links to tiles made by other processes will not lead here", "error", err)
	}
	return func() {
		os.Remove(path)
		lock.Unlock()
	}
}

// addressOf is the base URL of a listener, with the name of the machine when it
// listens on all addresses.
func addressOf(listener net.Listener) string {
	host := listener.Addr().String()
	if at, ok := listener.Addr().(*net.TCPAddr); ok && at.IP.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			_, port, _ := net.SplitHostPort(host)
			host = net.JoinHostPort(name, port)
		}
	}
	return (&url.URL{Scheme: "http", Host: host}).String()
}

// servedAt is the address that a process serves the folder at, "" when none does.
func (p *Platform) servedAt() string {
	lock := flock.New(filepath.Join(p.options.Dir, servedLock), flock.SetPermissions(0o600))
	if ok, err := lock.TryRLock(); ok || err != nil {
		lock.Unlock()
		return ""
	}
	var at served
	text, err := os.ReadFile(filepath.Join(p.options.Dir, servedFile))
	if err != nil || json.Unmarshal(text, &at) != nil {
		return ""
	}
	return at.URL
}
