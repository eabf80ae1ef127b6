package ingest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"

	"transect/client/fault"
)

// lock ensures that one run at a time on this machine ingests a source into a
// target. Two would duplicate nothing, but get in each other's way. The system
// releases the lock when the process ends, however it ends.
func lock(o Options, url string) (unlock func(), err error) {
	if o.StateDir == "" || o.DryRun || o.Items != nil {
		return func() {}, nil
	}
	source, name := realPath(o.Source.Root), o.Source.Root
	for _, p := range o.Source.Paths {
		source += "\n" + realPath(p)
	}
	if name == "" {
		name = "these files"
	}
	folder := filepath.Join(o.StateDir, "locks")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot create the folder of locks %s: %w", folder, fault.Reason(err)),
			"name another one in TRANSECT_STATE_DIR")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%s", url, o.Company, o.Project, o.Mission, source))
	path := filepath.Join(folder, fmt.Sprintf("ingest-%x.lock", sum[:12]))
	l, err := acquire(path)
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot lock %s: %w", path, fault.Reason(err)),
			"name another folder for locks in TRANSECT_STATE_DIR")
	}
	if l == nil {
		return nil, fault.Hinted(fault.Of(&fault.LockedError{}, "another run is ingesting %s into the same target", name),
			"wait until it has ended, then run again: what it uploaded is skipped")
	}
	return func() { release(l) }, nil
}

// acquire locks a file, and creates it when needed; nil when another run has it.
// A lock counts only while its file has that name: the run that held it before
// may have removed the file between opening and locking.
func acquire(path string) (*flock.Flock, error) {
	for {
		l := flock.New(path)
		if ok, err := l.TryLock(); !ok {
			_ = l.Close() // not locked
			return nil, err
		}
		locked, err := l.Stat()
		if err == nil {
			var named os.FileInfo
			if named, err = os.Stat(path); err == nil && os.SameFile(locked, named) {
				return l, nil
			}
		}
		_ = l.Unlock() // of a file that nobody else finds
	}
}

// release removes the file as well, so that locks do not accumulate. That of a
// killed run is used again.
func release(l *flock.Flock) {
	if runtime.GOOS != "windows" {
		_ = os.Remove(l.Path()) // while locked: whoever has opened it notices
	}
	_ = l.Unlock()
	if runtime.GOOS == "windows" {
		_ = os.Remove(l.Path()) // fails when somebody has opened it
	}
}

// realPath is the path of a file whatever links lead to it.
func realPath(path string) string {
	path = absolute(path)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}
