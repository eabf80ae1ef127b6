package runtime

import (
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
func (w *World) LocalDir(dir string) (string, error) {
	if dir == "" {
		dir = w.lookup("TRANSECT_LOCAL_DIR")
	}
	if dir != "" {
		return w.path(dir), nil
	}
	if runtime.GOOS != "windows" && w.lookup("HOME") == "" && w.lookup("XDG_DATA_HOME") == "" {
		return "", fault.Hinted(fault.Of(&fault.ConfigError{}, "there is no home folder to keep the local platform in: HOME is not set"),
			"name a folder with --local-dir or TRANSECT_LOCAL_DIR, or set HOME")
	}
	return filepath.Join(xdg.DataHome, "transect", "local"), nil
}

// localPlatform is opened when it is connected to first. All connections of a
// run share it.
type localPlatform struct {
	mu     sync.Mutex
	memory bool // keep it in memory alone
	opened *platform.Platform
	closed bool
}

func (l *localPlatform) open(ctx context.Context, dir string, log *slog.Logger) (*platform.Platform, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fault.Of(&fault.CancelledError{}, "the run has ended")
	}
	if l.opened == nil {
		p, err := platform.Open(ctx, l.options(dir, log))
		if err != nil {
			return nil, err
		}
		l.opened = p
	}
	return l.opened, nil
}

func (l *localPlatform) options(dir string, log *slog.Logger) platform.Options {
	if l.memory {
		return platform.Options{Memory: true, Logger: log}
	}
	return platform.Options{Dir: dir, Logger: log}
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
