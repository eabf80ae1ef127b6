package vm

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Module code reaches files through these: they ask Permit, and touch the file
// that was asked for and no other.

// ReadFile reads a whole file for the script, up to the longest text there may be.
func (in *Interp) ReadFile(path string) ([]byte, error) {
	f, err := in.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// A device may give bytes without end.
	data, err := io.ReadAll(io.LimitReader(f, int64(in.maxText)+1))
	if len(data) > in.maxText {
		return nil, tooLong("read", float64(len(data)), in.maxText)
	}
	return data, err
}

// Stat describes a file or folder for the script.
func (in *Interp) Stat(path string) (os.FileInfo, error) {
	if !in.Walled() {
		return os.Stat(path)
	}
	real := Canonical(path)
	if err := in.opt.Permit(Read, real); err != nil {
		return nil, err
	}
	root, name, err := opened(real)
	if err != nil {
		return nil, renamed(err, path)
	}
	defer root.Close()
	info, err := root.Lstat(name)
	return info, renamed(err, path)
}

// ReadDir lists a folder for the script, sorted by name.
func (in *Interp) ReadDir(path string) ([]os.DirEntry, error) {
	if !in.Walled() {
		return os.ReadDir(path)
	}
	f, err := in.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Readable leaves out the paths the script may not read: links in a folder it
// may read can lead out of it.
func (in *Interp) Readable(paths []string) []string {
	if !in.Walled() {
		return paths
	}
	var kept []string
	for _, path := range paths {
		if in.Permit(Read, path) == nil {
			kept = append(kept, path)
		}
	}
	return kept
}

// MakeFolder makes a folder for the script, with those above it.
func (in *Interp) MakeFolder(path string) error {
	if !in.Walled() {
		return os.MkdirAll(path, 0o777)
	}
	folder, err := in.Into(path, "")
	if err != nil {
		return err
	}
	return folder.Close()
}

// Into opens a folder, made when missing, in which the script is to make a file
// of that name; "" asks for the folder itself.
func (in *Interp) Into(folder, name string) (*os.Root, error) {
	real := Canonical(folder)
	if in.Walled() {
		if err := in.opt.Permit(Write, filepath.Join(real, name)); err != nil {
			return nil, err
		}
	}
	root, err := madeFolder(real)
	return root, renamed(err, folder)
}

// madeFolder opens the folder at a true path, and makes it, step by step below
// folders known to be those, where there is none.
func madeFolder(real string) (*os.Root, error) {
	root, err := openedFolder(real)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(real) == real {
		return root, err
	}
	above, err := madeFolder(filepath.Dir(real))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	if err := above.Mkdir(filepath.Base(real), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return openedFolder(real)
}

// Remove removes a file or an empty folder for the script, or with all a
// folder with what is in it. Of a link it removes the link.
func (in *Interp) Remove(path string, all bool) error {
	if !in.Walled() {
		if all {
			return os.RemoveAll(path)
		}
		return os.Remove(path)
	}
	folder, name, err := in.Folder(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if all {
		return renamed(folder.RemoveAll(name), path)
	}
	return renamed(folder.Remove(name), path)
}

// Rename moves a file or folder for the script.
func (in *Interp) Rename(from, to string) error { return in.rename(from, to) }

// TempDir makes a folder among the temporary files that is removed when the
// interpreter closes. It is the script's own, to read and to write.
func (in *Interp) TempDir(pattern string) (string, error) {
	for _, a := range []Access{Write, Read} {
		if err := in.Permit(a, os.TempDir()); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", err
	}
	in.OnClose(func() { _ = os.RemoveAll(dir) }) // it is among the temporary files
	return dir, nil
}
