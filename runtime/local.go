package runtime

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"transect/client/calendar"
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
		return "", fault.Hinted(fault.Of(&fault.ConfigError{},
			"cannot find a folder for the local platform: HOME is not set"),
			"name a folder with --local-dir or TRANSECT_LOCAL_DIR, or set HOME")
	}
	return filepath.Join(xdg.DataHome, "transect", "local"), nil
}

// KeepDeleted is how long the local platform keeps deleted datasets for
// restoring: TRANSECT_KEEP_DELETED, or 0 for its default.
func (p *Process) KeepDeleted() (time.Duration, error) {
	text := p.Getenv("TRANSECT_KEEP_DELETED")
	if text == "" {
		return 0, nil
	}
	d, err := calendar.Duration(text)
	if err != nil || d <= 0 {
		return 0, fault.Of(&fault.ConfigError{}, "TRANSECT_KEEP_DELETED is %q: write it with its unit, such as 168h", text)
	}
	return d, nil
}

// localPlatform is opened by the first connection to it and shared by all
// connections of a run.
type localPlatform struct {
	mu       sync.Mutex
	inMemory bool
	opened   *platform.Platform
	closed   bool
}

func (l *localPlatform) open(ctx context.Context, options platform.Options) (*platform.Platform, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fault.Of(&fault.CancelledError{}, "the run has ended")
	}
	if l.opened == nil {
		if l.inMemory {
			options.Dir, options.Memory = "", true
		}
		options.Alone = true
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
