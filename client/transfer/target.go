package transfer

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"transect/client/fault"
)

// target is a file being received under a temporary name beside its place.
type target struct {
	in     folder // where it goes
	name   string // in that folder
	path   string // the same for people
	temp   string // its name meanwhile
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
func newTarget(in folder, name string) (*target, error) {
	sum := sha256.Sum256([]byte(name))
	t := &target{in: in, name: name, path: in.told(name), temp: fmt.Sprintf("%s%x%s", temporaryStart, sum[:8], temporaryEnd)}
	var err error
	if t.file, err = claim(in.Root, t.temp); err != nil {
		t.shared, t.temp = true, temporaryStart+rand.Text()+temporaryEnd
		t.file, err = in.OpenFile(t.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return nil, fileError(err, "cannot write to the folder %s", in.path)
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
		err = t.in.Link(t.temp, t.name)
		if err == nil {
			t.in.sync()
			return nil // discard removes the temporary name
		}
		if errors.Is(err, fs.ErrExist) {
			return exists(t.path)
		}
		// This file system has no links.
		if err := t.in.checkFree(t.name, false); err != nil {
			return err
		}
	}
	if err := t.in.Rename(t.temp, t.name); err != nil {
		return fileError(err, "cannot write %s", t.path)
	}
	t.kept = true
	t.in.sync()
	return nil
}

// discard removes the temporary name and the record. It does not remove a file
// that was renamed.
func (t *target) discard() {
	t.forgetRecord()
	if !t.kept && !t.closed {
		removeClaimed(t.in.Root, t.temp, t.file)
		return
	}
	if !t.kept {
		_ = t.in.Remove(t.temp) // nothing can be done about it
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

// fileError is a local file that cannot be written.
func fileError(err error, format string, args ...any) error {
	f := fault.Of(&fault.FileError{}, format, args...)
	f.Cause = fault.Reason(err)
	switch {
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		f.Hint = "choose a folder that can be written to"
	case isFull(err):
		f.Hint = "the disk is full: make room, or choose another folder"
	}
	return f
}
