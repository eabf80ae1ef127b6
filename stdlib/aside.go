package stdlib

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"transect/runtime/vm"
)

// aside is a file under a temporary name beside its target, whose place it
// takes when it is whole. A target that exists keeps its permissions.
type aside struct {
	*os.File
	folder      *os.Root // of both
	temp, final string   // their names in it
	mode        fs.FileMode
	over        bool
}

// writeAside starts a file for the script, where it may write.
func writeAside(in *vm.Interp, path string) (*aside, error) {
	folder, name, err := in.Folder(vm.Canonical(path)) // replace what a link points to, not the link
	if err != nil {
		return nil, err
	}
	a := &aside{folder: folder, final: name, temp: ".transect-" + rand.Text(), mode: 0o644}
	if info, err := folder.Stat(name); err == nil {
		if info.IsDir() {
			_ = folder.Close()
			return nil, &fs.PathError{Op: "write", Path: path, Err: errors.New("is a folder")}
		}
		a.mode = info.Mode().Perm()
	}
	if a.File, err = folder.OpenFile(a.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		_ = folder.Close()
		return nil, err
	}
	return a, nil
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
	if err := a.folder.Rename(a.temp, a.final); err != nil {
		return err
	}
	a.over = true
	return a.folder.Close()
}

// discard removes the file unless it was committed.
func (a *aside) discard() {
	if !a.over {
		a.over = true
		_ = a.Close()
		_ = a.folder.Remove(a.temp)
		_ = a.folder.Close()
	}
}
