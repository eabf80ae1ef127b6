// Package local answers the local connections of runs with the local platform.
package local

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"transect/client"
	"transect/client/duration"
	"transect/client/fault"
	"transect/platform"
	"transect/runtime"
)

// Dir returns the folder of the local platform: the given one, else TRANSECT_LOCAL_DIR, else one in the
// user's data folder.
func Dir(p *runtime.Process, dir string) (string, error) {
	if dir = cmp.Or(dir, p.Getenv("TRANSECT_LOCAL_DIR")); dir != "" {
		return p.Path(dir), nil
	}
	if goruntime.GOOS != "windows" && p.Getenv("HOME") == "" && p.Getenv("XDG_DATA_HOME") == "" {
		return "", fault.Hinted(fault.Of(&fault.ConfigError{},
			"cannot find a folder for the local platform: HOME is not set"),
			"name a folder with --local-dir or TRANSECT_LOCAL_DIR, or set HOME")
	}
	return filepath.Join(xdg.DataHome, "transect", "local"), nil
}

// KeepDeleted returns how long the local platform keeps deleted datasets for restoring:
// TRANSECT_KEEP_DELETED, or 0 for its default.
func KeepDeleted(p *runtime.Process) (time.Duration, error) {
	text := p.Getenv("TRANSECT_KEEP_DELETED")
	if text == "" {
		return 0, nil
	}
	d, err := duration.Parse(text)
	if err != nil || d <= 0 {
		return 0, fault.Of(&fault.ConfigError{}, "TRANSECT_KEEP_DELETED is %q: write it with its unit, such as 168h", text)
	}
	return d, nil
}

// backend is opened by the first connection to it and shared by all connections of a run.
type backend struct {
	process *runtime.Process
	memory  bool

	mu     sync.Mutex
	opened *platform.Platform
	closed bool
}

// Backend makes the backend of a run on the local platform of the user.
func Backend(p *runtime.Process) runtime.Backend { return &backend{process: p} }

// InMemory makes a backend with a new local platform, which is gone when it is closed.
func InMemory(p *runtime.Process) runtime.Backend { return &backend{process: p, memory: true} }

func (b *backend) Address() string { return platform.Address }

func (b *backend) Folder(dir string) (string, error) { return Dir(b.process, dir) }

func (b *backend) Open(ctx context.Context, dir string, dryRun bool, log *slog.Logger) (s client.Settings,
	answers http.RoundTripper, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return s, nil, fault.Of(&fault.CancelledError{}, "the run has ended")
	}
	if b.opened == nil {
		o := platform.Options{Memory: b.memory, Alone: true, Logger: log}
		if o.KeepDeleted, err = KeepDeleted(b.process); err != nil {
			return s, nil, err
		}
		if !b.memory {
			if o.Dir, err = Dir(b.process, dir); err != nil {
				return s, nil, err
			}
			o.Memory = dryRun && !platform.Exists(o.Dir)
		}
		if b.opened, err = platform.Open(ctx, o); err != nil {
			return s, nil, err
		}
	}
	return b.opened.Settings(), b.opened.RoundTripper(), nil
}

func (b *backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.opened == nil {
		return nil
	}
	return b.opened.Close()
}
