package stdlib

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// aside is a file under a temporary name beside its target, whose place it
// takes when it is whole. A target that exists keeps its permissions.
type aside struct {
	*os.File
	target string
	mode   fs.FileMode
	over   bool
}

func writeAside(path string) (*aside, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // replace what a link points to, not the link
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return nil, &fs.PathError{Op: "write", Path: path, Err: errors.New("is a folder")}
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".transect-*")
	if err != nil {
		return nil, err
	}
	return &aside{File: f, target: path, mode: mode}, nil
}

// commit puts the file in its place.
func (a *aside) commit() error {
	if err := a.Chmod(a.mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := a.Sync(); err != nil {
		return err
	}
	if err := a.Close(); err != nil {
		return err
	}
	if err := os.Rename(a.Name(), a.target); err != nil {
		return err
	}
	a.over = true
	return nil
}

// discard removes the file unless it was committed.
func (a *aside) discard() {
	if !a.over {
		a.over = true
		_ = a.Close()
		_ = os.Remove(a.Name())
	}
}
