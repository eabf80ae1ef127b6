package platform

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"transect/client/atomicfile"
	"transect/client/transport/httpserve"
)

// Serve answers requests on a listener with h, which passes those of the platform
// on to Handler, until ctx ends. Then it lets those in progress finish and returns
// nil.
func (p *Platform) Serve(ctx context.Context, listener net.Listener, h http.Handler) error {
	defer p.announce(ctx, listener)()
	return httpserve.Server{Handler: h, Logger: p.log, Latency: p.options.Latency}.Serve(ctx, listener)
}

// Address is the base address to use with RoundTripper. Nothing resolves it.
const Address = "http://transect.local"

// RoundTripper answers requests inside the process, whatever host they name, with the
// same handlers as those over TCP.
func (p *Platform) RoundTripper() http.RoundTripper { return p.inside.RoundTripper() }

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
