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
)

// Serve answers requests on a listener until ctx ends, then lets those in
// progress finish and returns nil.
func (p *Platform) Serve(ctx context.Context, listener net.Listener) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler:           delayed(limitStalls(p.handler, bodyTimeout), p.options.Latency),
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

// limitStalls fails reads of a request's body during which no byte comes.
func limitStalls(h http.Handler, timeout time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &stallLimit{r.Body, http.NewResponseController(w), timeout}
		h.ServeHTTP(w, r)
	})
}

type stallLimit struct {
	io.ReadCloser
	connection *http.ResponseController
	timeout    time.Duration
}

func (b *stallLimit) Read(p []byte) (int, error) {
	b.connection.SetReadDeadline(time.Now().Add(b.timeout))
	n, err := b.ReadCloser.Read(p)
	// A deadline that passes while the request is worked on would cancel it.
	b.connection.SetReadDeadline(time.Time{})
	return n, err
}
