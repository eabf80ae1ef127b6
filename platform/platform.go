// Package platform is the local platform: a stand-in for the service side of the operations in package
// client. Its data are an SQLite database and one file per uploaded blob, in one folder.
//
// Requests come in through RoundTripper (inside the process) or Serve (TCP) and reach the handler of their
// route (routes.go, one file per manager), which works in one transaction of package store. Uploads go
// through storage.go to package blob; background jobs (jobs.go) ingest datasets, make tiles (tiles.go), write
// archives and run the programs of package analytic. Data of a sent response is on disk, and survives kill -9
// and power loss. Begin with Open, routes.go, tx.go (how failures travel) and a manager such as projects.go.
package platform

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/singleflight"

	"transect/client"
	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/formats"
	"transect/client/formats/raster"
	"transect/client/schema"
	"transect/client/transport/httpserve"
	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

// Options are the options of Open. Only Dir (or Memory) is required.
type Options struct {
	// Dir is the folder of all data; it is created when it is missing.
	Dir string
	// Memory uses a temporary folder, deleted by Close, instead of Dir. With Dir it has
	// the IDs that a new platform in Dir has.
	Memory bool
	// Logger may be nil.
	Logger *slog.Logger
	// Now is the clock of dates and expiries; time.Now when nil.
	Now func() time.Time
	// IngestDelay delays every ingestion.
	IngestDelay time.Duration
	// KeepDeleted is how long deleted datasets can be restored before their files are removed;
	// DefaultKeepDeleted when 0.
	KeepDeleted time.Duration
	// IgnoreKeys ignores the header Idempotency-Key, like platforms that do not support it.
	IgnoreKeys bool
	// Alone keeps issued tokens in memory: only this process uses them.
	Alone bool
	// Latency delays every request over TCP, as a distant platform does.
	Latency time.Duration

	under *beneath // the platform under an overlay
}

// Platform is an open local platform. Several processes may have the same
// folder open at once.
type Platform struct {
	options      Options
	secrets      secrets
	store        *store.Store
	blobs        *blob.Store
	ids          store.IDs
	home         string   // folder that the IDs of a new platform follow from
	issued       sync.Map // callers by the hash of their token, when Alone
	handler      http.Handler
	workers      *workers
	tilePixels   *raster.Cache      // decoded pixels of the rasters whose tiles were drawn last
	drawing      singleflight.Group // previews that requests wait for
	tileFeatures tileFeatures
	maxTime      func(size int64) time.Duration // time limit for making the tiles of a file

	log *slog.Logger

	repeated atomic.Int64 // see RepeatedKeys

	inside  *httpserve.Inside // see RoundTripper
	closing context.Context   // ends when Close is called
	shut    context.CancelFunc
	close   func() error
}

// Open opens the local platform in a folder, creating it if missing. For a folder that is damaged, of a newer
// version or foreign it returns a fault.PlatformError and changes nothing.
func Open(ctx context.Context, options Options) (*Platform, error) {
	options.fill()
	home := options.Dir
	if options.Memory {
		dir, err := os.MkdirTemp("", "transect-platform-")
		if err != nil {
			return nil, cannotUse(os.TempDir(), err)
		}
		options.Dir = dir
	}
	p := &Platform{options: options, log: options.Logger, home: cmp.Or(home, options.Dir), maxTime: formats.MaxTime}
	if err := p.open(ctx); err != nil {
		if options.Memory {
			os.RemoveAll(options.Dir)
		}
		return nil, folderFault(ctx, options.Dir, err)
	}
	p.closing, p.shut = context.WithCancel(context.Background())
	p.handler, p.tilePixels = p.routes(), raster.NewCache(tileMemory)
	p.startWorkers()
	p.inside = httpserve.Server{Handler: p.handler, Logger: p.log}.NewInside(p.closing,
		fault.Of(&fault.PlatformError{}, "the local platform is closed"))
	p.close = sync.OnceValue(p.shutDown)
	return p, nil
}

func (o *Options) fill() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.KeepDeleted = cmp.Or(o.KeepDeleted, DefaultKeepDeleted)
	if o.Now == nil {
		o.Now = time.Now
	}
}

// open creates or checks the folder and opens its blobs and database.
func (p *Platform) open(ctx context.Context) (err error) {
	dir := p.options.Dir
	if p.secrets, err = openFolder(ctx, dir, p.home); err != nil {
		return err
	}
	if p.blobs, err = blob.Open(dir, p.options.Memory); err != nil {
		return err
	}
	p.store, err = store.Open(ctx, databasePath(dir), store.Options{
		Tables: tables, Temporary: p.options.Memory,
		Fill: func(t *store.Tx) error {
			if p.options.under != nil {
				return nil // all data is below
			}
			return recovered(func() { p.seed(tx{Tx: t}) })
		},
	})
	return err
}

// Credentials are a client's address and login.
type Credentials struct {
	User         string `json:"user"`
	Password     string `json:"password"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Company      string `json:"company"` // id of the company everything belongs to
}

// Credentials returns the initial user, OAuth client and company of the platform.
func (p *Platform) Credentials() Credentials { return p.secrets.Credentials }

// Settings returns what a client in this process connects with; its RoundTripper is the platform's.
func (p *Platform) Settings() client.Settings {
	c := p.Credentials()
	return client.Settings{URL: Address, User: c.User, Password: c.Password, ClientID: c.ClientID,
		ClientSecret: c.ClientSecret}
}

// Connect returns a client of the platform in this process.
func (p *Platform) Connect(ctx context.Context) (*client.Client, error) {
	return client.New(ctx, p.Settings(), client.Options{RoundTripper: p.RoundTripper()})
}

// Dir returns the folder of the platform.
func (p *Platform) Dir() string { return p.options.Dir }

// Handler serves all routes and the signed storage addresses.
func (p *Platform) Handler() http.Handler { return p.handler }

// Close interrupts the background jobs, which are resumed when the folder is
// opened again, and closes the database. Closing again does nothing.
func (p *Platform) Close() error { return p.close() }

func (p *Platform) shutDown() error {
	p.shut()
	p.inside.Close()
	p.workers.all.Wait()
	err := p.store.Close()
	if p.options.Memory {
		err = errors.Join(err, os.RemoveAll(p.options.Dir))
	}
	return err
}

// date formats a time as stored in documents.
func date(t time.Time) string { return t.UTC().Format(schema.DateForm) }

// Serve answers requests on a listener with h, which forwards the platform's requests to Handler, until ctx
// ends. Then it lets requests in progress finish and returns nil.
func (p *Platform) Serve(ctx context.Context, listener net.Listener, h http.Handler) error {
	defer p.announce(ctx, listener)()
	return httpserve.Server{Handler: h, Logger: p.log, Latency: p.options.Latency}.Serve(ctx, listener)
}

// Address is the base address to use with RoundTripper. Nothing resolves it.
const Address = "http://transect.local"

// RoundTripper answers requests inside the process, for any host, with the same handlers as over TCP.
func (p *Platform) RoundTripper() http.RoundTripper { return p.inside.RoundTripper() }

// A process that serves the folder writes its address into servedFile and holds servedLock, so that links to
// tiles made by other processes lead there.
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
	text, err := json.Marshal(served{"http://" + httpserve.Reach(listener.Addr().String())})
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

// servedAt returns the address that a process serves the folder at, or "".
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
