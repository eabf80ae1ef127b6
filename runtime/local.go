package runtime

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/adrg/xdg"

	"transect/client/fault"
	"transect/platform"
)

// LocalDir is the folder of the local platform: the given one, else
// TRANSECT_LOCAL_DIR, else one in the user's data folder.
func (p *Process) LocalDir(dir string) (string, error) {
	if dir = cmp.Or(dir, p.Getenv("TRANSECT_LOCAL_DIR")); dir != "" {
		return p.Path(dir), nil
	}
	if runtime.GOOS != "windows" && p.Getenv("HOME") == "" && p.Getenv("XDG_DATA_HOME") == "" {
		return "", fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot find a folder for the local platform: HOME is not set"),
			"name a folder with --local-dir or TRANSECT_LOCAL_DIR, or set HOME")
	}
	return filepath.Join(xdg.DataHome, "transect", "local"), nil
}

// localPlatform is opened by the first connection to it and shared by all
// connections of a run.
type localPlatform struct {
	mu       sync.Mutex
	inMemory bool
	opened   *platform.Platform
	closed   bool
}

func (l *localPlatform) open(ctx context.Context, dir string, log *slog.Logger) (*platform.Platform, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fault.Of(&fault.CancelledError{}, "the run has ended")
	}
	if l.opened == nil {
		options := platform.Options{Dir: dir, Logger: log}
		if l.inMemory {
			options = platform.Options{Memory: true, Logger: log}
		}
		p, err := platform.Open(ctx, options)
		if err != nil {
			return nil, err
		}
		l.opened = p
	}
	return l.opened, nil
}

func (l *localPlatform) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.opened == nil {
		return nil
	}
	return l.opened.Close()
}
