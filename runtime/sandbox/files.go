package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"transect/client/fault"
)

// Module code reaches files through these: they ask Permit, and touch the file
// that was asked for and no other.

// ReadFile reads a whole file for the script, up to the longest text there may be.
func (s *Sandbox) ReadFile(path string) ([]byte, error) {
	f, err := s.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// A device may give bytes without end.
	data, err := io.ReadAll(io.LimitReader(f, int64(s.maxFile)+1))
	if len(data) > s.maxFile {
		return nil, TooLong("read", float64(len(data)), s.maxFile)
	}
	return data, err
}

// Stat describes a file or folder for the script.
func (s *Sandbox) Stat(path string) (os.FileInfo, error) {
	if !s.Restricted() {
		return os.Stat(path)
	}
	real := Canonical(path)
	if err := s.permit(Read, real); err != nil {
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
func (s *Sandbox) ReadDir(path string) ([]os.DirEntry, error) {
	if !s.Restricted() {
		return os.ReadDir(path)
	}
	f, err := s.Open(path, os.O_RDONLY, 0)
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
func (s *Sandbox) Readable(paths []string) []string {
	if !s.Restricted() {
		return paths
	}
	var kept []string
	for _, path := range paths {
		if s.Permit(Read, path) == nil {
			kept = append(kept, path)
		}
	}
	return kept
}

// MakeFolder makes a folder for the script, with those above it.
func (s *Sandbox) MakeFolder(path string) error {
	if !s.Restricted() {
		return os.MkdirAll(path, 0o777)
	}
	folder, err := s.Into(path, "")
	if err != nil {
		return err
	}
	return folder.Close()
}

// Into opens a folder, made when missing, in which the script is to make a file
// of that name; "" asks for the folder itself.
func (s *Sandbox) Into(folder, name string) (*os.Root, error) {
	real := Canonical(folder)
	if s.Restricted() {
		if err := s.permit(Write, filepath.Join(real, name)); err != nil {
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
func (s *Sandbox) Remove(path string, all bool) error {
	if !s.Restricted() {
		if all {
			return os.RemoveAll(path)
		}
		return os.Remove(path)
	}
	folder, name, err := s.Folder(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if all {
		return renamed(folder.RemoveAll(name), path)
	}
	return renamed(folder.Remove(name), path)
}

// Rename moves a file or folder for the script. The result is readable at the
// new path, so a restricted script must be allowed to read the old one.
func (s *Sandbox) Rename(from, to string) error {
	if !s.Restricted() {
		return os.Rename(from, to)
	}
	if err := s.Permit(Read, from); err != nil {
		return err
	}
	source, name, err := s.Folder(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, other, err := s.Folder(to)
	if err != nil {
		return err
	}
	defer target.Close()
	return renameAt(source, name, target, other)
}

// TooLong is the error of an operation whose result of length bytes exceeds limit.
func TooLong(operation string, length float64, limit int) error {
	return fault.Hinted(fault.Of(&fault.LimitError{}, "%s would build a text of %.0f MiB, the limit is %s",
		operation, length/(1<<20), Size(int64(limit))), "read and write large data piece by piece")
}

// Size formats a number of bytes.
func Size(n int64) string { return strings.ReplaceAll(humanize.IBytes(uint64(n)), ".0 ", " ") }

// ReadModule reads the source of a module. Modules in the given folders, true
// paths, are part of the script and need no permission.
func (s *Sandbox) ReadModule(path string, folders []string) ([]byte, error) {
	real := Canonical(path)
	if !s.Restricted() || !Below(real, folders...) {
		return s.ReadFile(path)
	}
	f, err := openTrue(real, os.O_RDONLY, 0)
	if err != nil {
		return nil, renamed(err, path)
	}
	defer f.Close()
	return io.ReadAll(f)
}
