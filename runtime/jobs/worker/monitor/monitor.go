// Package monitor serves the state of a worker over HTTP: whether it lives (/healthz), whether it takes jobs
// (/readyz), and metrics for Prometheus (/metrics, metrics.go). It serves no content of jobs.
package monitor

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"transect/client/transport/httpserve"
	"transect/runtime/jobs"
	"transect/runtime/jobs/worker"
)

const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 10 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	headerBytes    = 8 << 10
	maxConnections = 32 // of one peer
)

// Options are what a monitor shows.
type Options struct {
	Counters      *worker.Counters
	Name, Version string       // of the worker
	Log           *slog.Logger // of the server's errors
}

// Monitor is the server.
type Monitor struct {
	options  Options
	server   *http.Server
	listener net.Listener
	serving  sync.WaitGroup
	store    atomic.Pointer[jobs.Store] // nil until the database has answered for the first time

	mu      sync.Mutex
	asked   time.Time // when the database was last asked
	backlog *jobs.Backlog
}

// Start serves at an address, HOST:PORT. It begins before the worker has its database, see Use.
func Start(ctx context.Context, address string, o Options) (*Monitor, error) {
	listener, err := httpserve.Listen(ctx, address)
	if err != nil {
		return nil, err
	}
	m := &Monitor{options: o, listener: httpserve.Limits{Connections: maxConnections}.Listener(listener)}
	paths := http.NewServeMux()
	paths.Handle("GET /healthz", answer(func() error { return o.Counters.Status().Stuck }))
	paths.Handle("GET /readyz", answer(func() error { return o.Counters.Status().Unready }))
	paths.Handle("GET /metrics", m.metrics())
	m.server = &http.Server{Handler: paths, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)}
	m.serving.Go(func() { _ = m.server.Serve(m.listener) }) // it ends when it is closed
	return m, nil
}

// Address returns the host and port that it listens on.
func (m *Monitor) Address() string { return m.listener.Addr().String() }

// Use sets the database that the metrics of the queues are from.
func (m *Monitor) Use(store *jobs.Store) { m.store.Store(store) }

// Close ends the server and its requests, before the database is closed.
func (m *Monitor) Close() {
	_ = m.server.Close()
	m.serving.Wait()
}

// answer says that all is well, or why not.
func answer(wrong func() error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if err := wrong(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n") // the peer may be gone
	})
}
