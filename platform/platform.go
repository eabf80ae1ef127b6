// Package platform is the local platform: the service side of the operations
// that package client calls, on an SQLite database and a folder of blobs. It
// answers inside the process or over TCP, with the same handlers.
package platform

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"transect/platform/blob"
	"transect/platform/store"
)

// Options says how to open a local platform. The zero value of every field but
// Dir is a good choice.
type Options struct {
	// Dir is the folder that holds everything; it is made when it is not there.
	Dir string
	// Memory uses a temporary folder, removed by Close. Dir is not used then.
	Memory bool
	// Logger gets what operators want to know; nothing is logged without it.
	Logger *slog.Logger
	// Now is the clock of dates and expiries; time.Now when nil.
	Now func() time.Time
	// TokenLife is how long access tokens are good for; 4 hours when 0.
	TokenLife time.Duration
	// AddressLife is how long signed storage addresses are good for; 15 minutes when 0.
	AddressLife time.Duration
	// IngestDelay makes every ingestion take at least so long.
	IngestDelay time.Duration
	// Latency is how much later each request over TCP is answered, as by a
	// platform far away.
	Latency time.Duration
	// Lease is how long the work of a process that died stays its own before
	// another takes it over; 3 seconds when 0.
	Lease time.Duration
}

// Platform is an open local platform. Several processes may have the same
// folder open at once.
type Platform struct {
	options Options
	secrets secrets
	store   *store.Store
	blobs   *blob.Store
	ids     store.IDs
	handler http.Handler
	workers *workers

	log *slog.Logger

	closing context.Context // ends when Close is called
	shut    context.CancelFunc

	mu       sync.Mutex
	closed   bool
	inFlight sync.WaitGroup // in-process requests still being answered
}

// Open opens the local platform in a folder, making it when it is not there.
// A folder that is damaged, of a newer version, or something else fails with a
// fault.PlatformError; nothing in it is changed then.
func Open(ctx context.Context, options Options) (*Platform, error) {
	options.fill()
	if options.Memory {
		dir, err := os.MkdirTemp("", "transect-platform-")
		if err != nil {
			return nil, cannotUse(os.TempDir(), err)
		}
		options.Dir = dir
	}
	p := &Platform{options: options, log: options.Logger}
	if err := p.open(ctx); err != nil {
		if options.Memory {
			os.RemoveAll(options.Dir)
		}
		return nil, err
	}
	p.closing, p.shut = context.WithCancel(context.Background())
	p.handler = p.routes()
	p.startWorkers()
	return p, nil
}

func (o *Options) fill() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.TokenLife <= 0 {
		o.TokenLife = 4 * time.Hour
	}
	if o.AddressLife <= 0 {
		o.AddressLife = 15 * time.Minute
	}
	if o.Lease <= 0 {
		o.Lease = 3 * time.Second
	}
}

// open makes or checks the folder, and opens what is in it.
func (p *Platform) open(ctx context.Context) error {
	dir := p.options.Dir
	var err error
	if p.secrets, err = openFolder(ctx, dir); err != nil {
		return err
	}
	if p.blobs, err = blob.Open(dir, p.options.Memory); err != nil {
		return cannotUse(dir, err)
	}
	p.store, err = store.Open(ctx, databasePath(dir), store.Options{
		Tables: tables, Fill: p.seed, Temporary: p.options.Memory,
	})
	if err == nil {
		if err = p.unpackBlobs(ctx); err != nil {
			p.store.Close()
		}
	}
	if err != nil {
		return databaseFault(ctx, dir, err)
	}
	return nil
}

// Credentials are what a client needs to use the platform.
type Credentials struct {
	User         string `json:"user"`
	Password     string `json:"password"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Company      string `json:"company"` // id of the company everything belongs to
}

// Credentials returns the user, the OAuth client and the company that are there
// from the start.
func (p *Platform) Credentials() Credentials { return p.secrets.Credentials }

// Dir returns the folder of the platform.
func (p *Platform) Dir() string { return p.options.Dir }

// Handler answers all routes, those of the signed storage addresses included.
func (p *Platform) Handler() http.Handler { return p.handler }

// begin counts an in-process request in, unless the platform is closed.
func (p *Platform) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.inFlight.Add(1)
	}
	return !p.closed
}

// Close stops the work in the background, which is finished when the folder is
// opened again, and closes the database. Closing again does nothing.
func (p *Platform) Close() error {
	p.mu.Lock()
	again := p.closed
	p.closed = true
	p.mu.Unlock()
	if again {
		return nil
	}
	p.shut()
	p.workers.all.Wait()
	p.inFlight.Wait()
	err := p.store.Close()
	if p.options.Memory {
		err = errors.Join(err, os.RemoveAll(p.options.Dir))
	}
	return err
}

// date writes a time as the platform's documents hold it.
func date(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
