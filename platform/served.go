package platform

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"transect/client/atomicfile"
)

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
