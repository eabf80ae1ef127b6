package platform

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// shutdownTime is how long requests may take to end after the server is told to.
const shutdownTime = 5 * time.Second

// Serve answers requests on a listener until ctx ends, then lets the running
// ones finish. It returns nil after such an end.
func (p *Platform) Serve(ctx context.Context, listener net.Listener) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler:           late(p.handler, p.options.Latency),
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
	stop, release := context.WithTimeout(requests, shutdownTime)
	defer release()
	err := server.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-ended
	return err
}

// late answers each request so much later.
func late(h http.Handler, by time.Duration) http.Handler {
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
