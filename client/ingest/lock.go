package ingest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"transect/client/fault"
)

const (
	lockBegin, lockEnd = "ingest-", ".lock"
	keptLocks          = 30 * 24 * time.Hour // since their last use
)

// lock makes sure that one run at a time on this machine brings a source to a
// target. Two would not double anything, but get in each other's way. The
// system frees the lock when its process ends, however it ends.
func lock(o Options, url string) (unlock func(), err error) {
	if o.StateDir == "" || o.DryRun || o.Items != nil {
		return func() {}, nil
	}
	source, name := real(o.Source.Root), o.Source.Root
	for _, p := range o.Source.Paths {
		source += "\n" + real(p)
	}
	if name == "" {
		name = "these files"
	}
	folder := filepath.Join(o.StateDir, "locks")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot make the folder of locks %s: %w", folder, fault.Reason(err)),
			"name another one in TRANSECT_STATE_DIR")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%s", url, o.Company, o.Project, o.Mission, source))
	path := filepath.Join(folder, fmt.Sprintf("%s%x%s", lockBegin, sum[:12], lockEnd))
	held, err := take(path)
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot lock %s: %w", path, fault.Reason(err)),
			"name another folder for locks in TRANSECT_STATE_DIR")
	}
	if held == nil {
		return nil, fault.Hinted(fault.Of(&fault.LockedError{}, "another run is ingesting %s into the same place", name),
			"wait until it has ended, then run again: what it did is found and skipped")
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // else it looks older than it is, and is made anew some day
	pruneLocks(folder, now.Add(-keptLocks))
	return func() { _ = held.Unlock() }, nil // the end of the process does the same
}

// take locks a file, making it when it is not there; nil when another holds it.
// A lock counts only while its file is the one of that name: another run may
// have removed it, for its age, between the opening and the locking.
func take(path string) (*flock.Flock, error) {
	busy := 0
	for {
		l := flock.New(path)
		free, err := l.TryLock()
		if err != nil {
			return nil, err
		}
		if !free {
			// One that removes it holds it for a moment, too.
			if busy++; busy == 3 {
				return nil, nil
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if current(l) {
			return l, nil
		}
		_ = l.Unlock() // nobody else finds it any more
	}
}

// current tells whether a lock that is held is on the file of its name.
func current(l *flock.Flock) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(l.Path())
	return err == nil && os.SameFile(held, named)
}

// pruneLocks removes the locks that nobody holds, and that were last used before
// a time. It holds each while it does so: whoever opened it before sees that it
// is gone, see take.
func pruneLocks(folder string, before time.Time) {
	paths, _ := filepath.Glob(filepath.Join(folder, lockBegin+"*"+lockEnd)) // what is not found stays
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
			continue
		}
		l := flock.New(path, flock.SetFlag(os.O_RDWR)) // not made anew
		if free, err := l.TryLock(); err != nil || !free {
			continue
		}
		info, err := l.Stat()
		old := err == nil && info.ModTime().Before(before) && current(l) // as it may have been used meanwhile
		if old && runtime.GOOS != "windows" {
			_ = os.Remove(path) // it is only in the way
		}
		_ = l.Unlock()
		if old && runtime.GOOS == "windows" {
			_ = os.Remove(path) // there no file is removed that somebody has open, we neither
		}
	}
}

// real is a path by which a file is known whatever way leads to it.
func real(path string) string {
	path = absolute(path)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}
