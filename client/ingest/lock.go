package ingest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"transect/client/fault"
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
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot make the folder of locks %s: %w", folder, plain(err)),
			"name another one in TRANSECT_STATE_DIR")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%s", url, o.Company, o.Project, o.Mission, source))
	held := flock.New(filepath.Join(folder, fmt.Sprintf("ingest-%x.lock", sum[:12])))
	free, err := held.TryLock()
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot lock %s: %w", held.Path(), plain(err)),
			"name another folder for locks in TRANSECT_STATE_DIR")
	}
	if !free {
		return nil, fault.Hinted(fault.Of(&fault.LockedError{}, "another run is ingesting %s into the same place", name),
			"wait until it has ended, then run again: what it did is found and skipped")
	}
	return func() { _ = held.Unlock() }, nil // the end of the process does the same
}

// real is a path by which a file is known whatever way leads to it.
func real(path string) string {
	path = absolute(path)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}
