package transfer

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"transect/client/fault"
)

// target is a file being received under a temporary name beside its place.
type target struct {
	path    string // where it goes
	file    *os.File
	failure error // what went wrong on this side
	closed  bool
	kept    bool
}

// newTarget opens the temporary file. Its name follows from the target's, so
// that a run takes over what a killed one left behind; while somebody else is
// writing it, another name is used.
func newTarget(folder, path string) (*target, error) {
	sum := sha256.Sum256([]byte(filepath.Base(path)))
	temporary := filepath.Join(folder, fmt.Sprintf(".transect-%x.part", sum[:8]))
	file, err := claim(temporary)
	if err != nil {
		temporary = filepath.Join(folder, ".transect-"+rand.Text()+".part")
		file, err = os.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return nil, fileError(err, "cannot write to the folder %s", folder)
	}
	t := &target{path: path, file: file}
	if err := t.empty(); err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

var errClaimed = errors.New("another process is writing the file")

// Write notes its own errors, to tell them from those of the connection.
func (t *target) Write(b []byte) (int, error) {
	n, err := t.file.Write(b)
	if err != nil {
		t.failure = fileError(err, "cannot write %s", t.path)
		return n, t.failure
	}
	return n, nil
}

// empty starts the file over.
func (t *target) empty() error {
	err := t.file.Truncate(0)
	if err == nil {
		_, err = t.file.Seek(0, io.SeekStart)
	}
	if err != nil {
		t.failure = fileError(err, "cannot write %s", t.path)
	}
	return t.failure
}

// keep brings the file to disk and to its name.
func (t *target) keep(overwrite bool) error {
	err := t.file.Sync()
	t.closed = true
	if closing := t.file.Close(); err == nil {
		err = closing
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

// discard removes the temporary name. It does nothing after a renaming.
func (t *target) discard() {
	if !t.closed {
		_ = t.file.Close() // it is not wanted any more
	}
	if !t.kept {
		_ = os.Remove(t.file.Name()) // nothing can be done about it
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
