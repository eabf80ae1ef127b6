package transfer

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"transect/client/fault"
)

// target is a file being received under a temporary name in its folder.
type target struct {
	in     folder
	name   string // in that folder
	path   string // for messages
	temp   string // the temporary name
	file   *os.File
	shared bool // another process writes under the usual temporary name
	closed bool
	kept   bool

	failure atomic.Pointer[error] // the first write error

	identity identity
	records  *os.File // see record
}

// newTarget opens the temporary file. Its name is derived from the target's, so that a run
// continues the partial file of a killed one; while another process writes it, a random name is
// used.
func newTarget(in folder, name string) (*target, error) {
	sum := sha256.Sum256([]byte(name))
	t := &target{in: in, name: name, path: in.join(name),
		temp: fmt.Sprintf("%s%x%s", temporaryPrefix, sum[:8], partSuffix)}
	var err error
	if t.file, err = OpenLocked(in.Root, t.temp); err != nil {
		t.shared, t.temp = true, temporaryPrefix+rand.Text()+partSuffix
		t.file, err = in.OpenFile(t.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return nil, fileError(err, "cannot write to the folder %s", in.path)
	}
	return t, nil
}

// ErrLocked is returned by OpenLocked for a file that another process has locked.
var ErrLocked = errors.New("another process is writing the file")

// writeAt keeps its first error, to distinguish it from connection errors.
func (t *target) writeAt(b []byte, at int64) error {
	_, err := t.file.WriteAt(b, at)
	return t.failed(err)
}

func (t *target) failed(err error) error {
	if err == nil {
		return nil
	}
	err = fileError(err, "cannot write %s", t.path)
	t.failure.CompareAndSwap(nil, &err)
	return t.broken()
}

// broken returns the first write error, or nil.
func (t *target) broken() error {
	if first := t.failure.Load(); first != nil {
		return *first
	}
	return nil
}

// reset discards the received bytes.
func (t *target) reset() error {
	t.forgetRecord()
	return t.failed(t.file.Truncate(0))
}

// commit syncs the file and renames it. Where the system allows, it stays locked until then, so
// that no other process takes it over.
func (t *target) commit(overwrite bool) error {
	err := t.file.Sync()
	if closeBeforeRename {
		t.closed = true
		if closing := t.file.Close(); err == nil {
			err = closing
		}
	}
	if err != nil {
		return fileError(err, "cannot write %s", t.path)
	}
	if !overwrite {
		// Unlike a rename, a link never replaces a file created meanwhile.
		err = t.in.Link(t.temp, t.name)
		if err == nil {
			t.in.sync()
			return nil // discard removes the temporary name
		}
		if errors.Is(err, fs.ErrExist) {
			return exists(t.path)
		}
		// This file system does not support links.
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

// discard removes the temporary name and the record, but not a file that was renamed.
func (t *target) discard() {
	t.forgetRecord()
	switch {
	case !t.kept && !t.closed:
		RemoveLocked(t.in.Root, t.temp, t.file)
		return
	case !t.kept:
		_ = t.in.Remove(t.temp) // if this fails, pruned later
	}
	t.close()
}

// leave keeps the partial file for the next download.
func (t *target) leave() {
	if t.records != nil {
		_ = t.records.Close() // bytes that are not recorded are downloaded again
	}
	t.close()
}

func (t *target) close() {
	if !t.closed {
		_ = t.file.Close() // synced, or no longer needed
	}
}

// fileError returns the error for a local file that cannot be written.
func fileError(err error, format string, args ...any) error {
	f := fault.Of(&fault.FileError{}, format, args...)
	f.Cause = fault.Reason(err)
	switch {
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		f.Hint = "choose a folder that can be written to"
	case IsFull(err):
		f.Hint = "the disk is full: free some space, or choose another folder"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		f.Hint = "check the path, or choose another folder"
	}
	return f
}

// folder is the folder that files are received in. It is held open, so that a link replacing its
// path later is not followed.
type folder struct {
	*os.Root
	path string // as given by the caller
}

// folder opens the folder for a file, creating it when missing.
func (t *Transfers) folder(path, name string) (folder, error) {
	root, err := t.Folder(path, name)
	if err != nil && fault.Find(err) == nil {
		err = fileError(err, "cannot create the folder %s", path)
	}
	return folder{root, path}, err
}

func makeFolder(path, _ string) (*os.Root, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// join returns the path of a file in the folder, for messages.
func (f folder) join(name string) string { return filepath.Join(f.path, name) }

// sync makes a new name durable where the system supports that.
func (f folder) sync() {
	if d, err := f.Open("."); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// checkFree fails when a file must not be overwritten.
func (f folder) checkFree(name string, overwrite bool) error {
	info, err := f.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fileError(err, "cannot read %s", f.join(name))
	case info.IsDir():
		return fault.Of(&fault.FileExistsError{}, "%s is a folder", f.join(name))
	case !overwrite:
		return exists(f.join(name))
	}
	return nil
}

func exists(path string) error {
	return fault.Hinted(fault.Of(&fault.FileExistsError{}, "%s exists already", path),
		"set overwrite to replace it, or give another target_name or target_path")
}
