// Package atomicfile writes files that are there whole, or not at all.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
)

// File is a file under a temporary name beside its target, whose place it
// takes when it is whole.
type File struct {
	*os.File
	folder      *os.Root // of both
	temp, final string   // their names in it
	mode        fs.FileMode
	over        bool
}

// Create starts a file in a folder, which is closed with it. A target that
// exists keeps its permissions, one that is a folder is an error.
func Create(folder *os.Root, name string) (*File, error) {
	f := &File{folder: folder, final: name, temp: ".transect-" + rand.Text(), mode: 0o644}
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

// Like gives the file the permissions and the time of another.
func (f *File) Like(info fs.FileInfo) error {
	f.mode = info.Mode().Perm()
	return f.folder.Chtimes(f.temp, info.ModTime(), info.ModTime())
}

// Commit puts the file in its place.
func (f *File) Commit() error {
	if err := f.Chmod(f.mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := f.folder.Rename(f.temp, f.final); err != nil {
		return err
	}
	f.over = true
	return f.folder.Close()
}

// Discard removes the file unless it was committed.
func (f *File) Discard() {
	if !f.over {
		f.over = true
		_ = f.Close()
		_ = f.folder.Remove(f.temp)
		_ = f.folder.Close()
	}
}
