package transfer

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"transect/client/fault"
)

// target is a file being received under a temporary name beside its place.
type target struct {
	path   string // where it goes
	file   *os.File
	shared bool // somebody else writes under the usual temporary name
	closed bool
	kept   bool

	mu      sync.Mutex
	failure error // what went wrong on this side

	identity identity
	notes    *os.File // of the record
	turn     int64
}

// newTarget opens the temporary file. Its name follows from the target's, so
// that a run takes over what a killed one left behind; while somebody else is
// writing it, another name is used.
func newTarget(folder, path string) (*target, error) {
	sum := sha256.Sum256([]byte(filepath.Base(path)))
	t := &target{path: path}
	var err error
	if t.file, err = claim(filepath.Join(folder, fmt.Sprintf("%s%x%s", temporaryStart, sum[:8], temporaryEnd))); err != nil {
		t.shared = true
		t.file, err = os.OpenFile(filepath.Join(folder, temporaryStart+rand.Text()+temporaryEnd), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return nil, fileError(err, "cannot write to the folder %s", folder)
	}
	return t, nil
}

var errClaimed = errors.New("another process is writing the file")

// writeAt notes its own errors, to tell them from those of the connection.
func (t *target) writeAt(b []byte, at int64) error {
	_, err := t.file.WriteAt(b, at)
	return t.failed(err)
}

func (t *target) failed(err error) error {
	if err == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure == nil {
		t.failure = fileError(err, "cannot write %s", t.path)
	}
	return t.failure
}

// broken is what went wrong on this side, or nil.
func (t *target) broken() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failure
}

// empty starts the file over.
func (t *target) empty() error {
	t.forgetRecord()
	return t.failed(t.file.Truncate(0))
}

// keep brings the file to disk and to its name. The lock on it is held until
// then, where the system allows that: nobody takes it over in between.
func (t *target) keep(overwrite bool) error {
	err := t.file.Sync()
	if closeFirst {
		t.closed = true
		if closing := t.file.Close(); err == nil {
			err = closing
		}
	}
	if err != nil {
		return fileError(err, "cannot write %s", t.path)
	}
	if !overwrite {
		// A link, unlike a renaming, never replaces a file that came meanwhile.
		err = os.Link(t.file.Name(), t.path)
		if err == nil {
			syncFolder(filepath.Dir(t.path))
			return nil // discard removes the temporary name
		}
		if errors.Is(err, fs.ErrExist) {
			return exists(t.path)
		}
		// This file system has no links.
		if err := checkFree(t.path, false); err != nil {
			return err
		}
	}
	if err := os.Rename(t.file.Name(), t.path); err != nil {
		return fileError(err, "cannot write %s", t.path)
	}
	t.kept = true
	syncFolder(filepath.Dir(t.path))
	return nil
}

// discard removes the temporary name and the record. It does not remove a file
// that was renamed.
func (t *target) discard() {
	t.forgetRecord()
	if !t.kept && !t.closed {
		removeClaimed(t.file)
		return
	}
	if !t.kept {
		_ = os.Remove(t.file.Name()) // nothing can be done about it
	}
	t.close()
}

// leave keeps what came for the next download.
func (t *target) leave() {
	if t.notes != nil {
		_ = t.notes.Close() // what it lacks is fetched again
	}
	t.close()
}

func (t *target) close() {
	if !t.closed {
		_ = t.file.Close() // synced, or not wanted any more
	}
}

// syncFolder makes a new name durable where the system can do that.
func syncFolder(folder string) {
	if d, err := os.Open(folder); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// checkFree fails when something stands in the way of a file.
func checkFree(path string, overwrite bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fileError(err, "cannot look at %s", path)
	case info.IsDir():
		return fault.Of(&fault.FileExistsError{}, "%s is a folder", path)
	case !overwrite:
		return exists(path)
	}
	return nil
}

func exists(path string) error {
	return fault.Hinted(fault.Of(&fault.FileExistsError{}, "%s exists already", path),
		"set overwrite to replace it, or give another target_name or target_path")
}

// fileError is a local file that cannot be written.
func fileError(err error, format string, args ...any) error {
	f := fault.Of(&fault.FileError{}, format, args...)
	f.Cause = plainCause(err)
	switch {
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		f.Hint = "choose a folder that can be written to"
	case isFull(err):
		f.Hint = "the disk is full: make room, or choose another folder"
	}
	return f
}
