package platform

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	shutdownTimeout = 5 * time.Second // for requests in progress when the server stops
	bodyTimeout     = time.Minute     // between two reads of a request's body
	bodyGrace       = 30 * time.Second
	minBodyRate     = 1 << 10 // bytes a second, after the grace period
)

// Serve answers requests on a listener until ctx ends, then lets those in
// progress finish and returns nil.
func (p *Platform) Serve(ctx context.Context, listener net.Listener) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler:           delayed(limitStalls(p.handler, bodyTimeout, bodyGrace), p.options.Latency),
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       5 * time.Minute,
		ErrorLog:          slog.NewLogLogger(p.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
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
