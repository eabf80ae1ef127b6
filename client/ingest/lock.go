package ingest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"transect/client/fault"
	"transect/client/transfer"
)

// lock ensures that only one run at a time on this machine ingests a source into a target. Two
// would duplicate nothing, but get in each other's way. The system releases the lock however the
// process ends; removing the file on unlock keeps locks from piling up.
func lock(o Options, url string) (unlock func(), err error) {
	if o.StateDir == "" || o.DryRun || o.Items != nil {
		return func() {}, nil
	}
	name := o.Source.Root
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n%s\n%s\n%s", url, o.Company, o.Project, o.Mission, realPath(o.Source.Root))
	folders := map[string]string{} // real paths of the few folders of thousands of files
	for _, p := range o.Source.Paths {
		dir, base := filepath.Split(p)
		if folders[dir] == "" {
			folders[dir] = realPath(dir)
		}
		fmt.Fprintf(sum, "\n%s", filepath.Join(folders[dir], base))
	}
	if name == "" {
		name = "these files"
	}
	folder := filepath.Join(o.StateDir, "locks")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot create the folder of locks %s: %w", folder,
			fault.Reason(err)),
			"name another one in TRANSECT_STATE_DIR")
	}
	path := filepath.Join(folder, fmt.Sprintf("ingest-%x.lock", sum.Sum(nil)[:12]))
	root, err := os.OpenRoot(folder)
	if err == nil {
		var file *os.File
		if file, err = transfer.OpenLocked(root, filepath.Base(path)); err == nil {
			return func() {
				transfer.RemoveLocked(root, filepath.Base(path), file)
				_ = root.Close() // only used for lookups
			}, nil
		}
		_ = root.Close() // only used for lookups
	}
	if errors.Is(err, transfer.ErrLocked) {
		return nil, fault.Hinted(fault.Of(&fault.LockedError{}, "another run is ingesting %s into the same target", name),
			"wait until it has ended, then run again: what it uploaded is skipped")
	}
	return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot lock %s: %w", path, fault.Reason(err)),
		"name another folder for locks in TRANSECT_STATE_DIR")
}

// realPath returns the path of a file with links resolved.
func realPath(path string) string {
	path = absolute(path)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}
