// Package atomicfile replaces files in one step: a reader sees the old content or the new, never a
// part of it, even after a crash.
//
// Write takes content in memory. Create opens a file with a temporary name; Commit syncs it and renames
// it over its target.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file under a temporary name next to its target. Commit or Discard it.
type File struct {
	*os.File
	New         bool     // Commit fails with fs.ErrExist if the target exists
	folder      *os.Root // of both names; closed with the file
	temp, final string
	mode        fs.FileMode
	done        bool
}

// Create starts the replacement of name in folder, and takes ownership of folder. It keeps the
// permissions of an existing target, a new one gets mode; a folder as the target is an error.
func Create(folder *os.Root, name string, mode fs.FileMode) (*File, error) {
	f := &File{folder: folder, final: name, temp: ".transect-" + rand.Text(), mode: mode}
	if info, err := folder.Stat(name); err == nil {
		if info.IsDir() {
			_ = folder.Close()
			return nil, &fs.PathError{Op: "write", Path: name, Err: errors.New("is a folder")}
		}
		f.mode = info.Mode().Perm()
	}
	var err error
	if f.File, err = folder.OpenFile(f.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		_ = folder.Close()
		return nil, err
	}
	return f, nil
}

// Like copies permissions and modification time from another file.
func (f *File) Like(info fs.FileInfo) error {
	f.mode = info.Mode().Perm()
	return f.folder.Chtimes(f.temp, info.ModTime(), info.ModTime())
}

// Commit syncs the file and renames it over its target.
func (f *File) Commit() error { return f.commit(true) }

func (f *File) commit(sync bool) error {
	if err := f.Chmod(f.mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if sync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := f.rename(); err != nil {
		return err
	}
	f.done = true
	return f.folder.Close()
}

// rename gives the file its name. A new one is linked, where the file system can, else its name is taken first.
func (f *File) rename() error {
	if f.New {
		err := f.folder.Link(f.temp, f.final)
		if err == nil {
			return f.folder.Remove(f.temp)
		} else if errors.Is(err, fs.ErrExist) {
			return err
		}
		taken, err := f.folder.OpenFile(f.final, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
		if err != nil {
			return err
		}
		_ = taken.Close() // nothing was written
	}
	return f.folder.Rename(f.temp, f.final)
}

// Discard removes the file unless it was committed.
func (f *File) Discard() {
	if !f.done {
		f.done = true
		_ = f.Close()
		_ = f.folder.Remove(f.temp)
		_ = f.folder.Close()
	}
}

// Write replaces the content of a file and syncs it, following a symbolic link. A new file gets
// mode, an existing one keeps its permissions.
func Write(path string, data []byte, mode fs.FileMode) error { return write(path, data, mode, true) }

// WriteUnsynced is like Write but does not wait for the disk: a power cut may lose the new content.
func WriteUnsynced(path string, data []byte, mode fs.FileMode) error {
	return write(path, data, mode, false)
}

func write(path string, data []byte, mode fs.FileMode, sync bool) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	f, err := Create(folder, filepath.Base(path), mode)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.commit(sync)
}
