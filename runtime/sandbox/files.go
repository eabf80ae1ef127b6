package sandbox

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/human"
)

// Open opens a file for the script, like os.OpenFile. In a restricted sandbox it checks the canonical path
// and follows no link that appeared since.
func (s *Sandbox) Open(ctx context.Context, path string, flag int, perm os.FileMode) (*os.File, error) {
	writes := flag&(os.O_RDWR|os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0
	asOnDisk := !writes && !s.Restricted() && !s.shadowed()
	real := path
	if s.Guarded() && !asOnDisk {
		real = s.canonical(path)
	}
	if err := s.mayOpen(real, flag, writes); err != nil {
		return nil, err
	}
	if s.Sealed() && !writes {
		if info, err := os.Stat(real); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			return nil, NotPlanned(path) // the content is unknown to a plan
		}
	}
	if s.effects != nil && !asOnDisk && !s.effects.Shadow.Private(real) {
		happens := !s.shadowed()
		if writes {
			var err error
			if happens, err = s.writes(ctx, path, real, flag); err != nil {
				return nil, err
			}
		}
		if !happens {
			file, err := s.effects.Shadow.Open(path, flag, perm)
			return file, withPath(err, path)
		}
	}
	if !s.Restricted() {
		return os.OpenFile(path, flag, perm)
	}
	file, err := openChecked(real, flag, perm)
	return file, withPath(err, path)
}

// writes reports whether writing to a file happens on disk. The shadow handles files that cannot be written
// or are not regular.
func (s *Sandbox) writes(ctx context.Context, path, real string, flag int) (bool, error) {
	info, err := s.Stat(path)
	switch {
	case err != nil && flag&os.O_CREATE != 0:
		return s.changes(ctx, CreateFile, real, "")
	case err == nil && info.Mode().IsRegular() && flag&os.O_EXCL == 0:
		return s.changes(ctx, ChangeFile, real, "")
	}
	return false, nil
}

// mayOpen checks whether the script may open the file at a canonical path.
func (s *Sandbox) mayOpen(real string, flag int, writes bool) error {
	if !s.Restricted() {
		return nil
	}
	if !writes || flag&os.O_RDWR != 0 {
		if err := s.permit(Read, real); err != nil {
			return err
		}
	}
	if writes {
		return s.permit(Write, real)
	}
	return nil
}

// shadowed reports whether the script sees files otherwise than they are on disk.
func (s *Sandbox) shadowed() bool { return s.effects != nil && s.effects.Shadow.Changed() }

// canonical returns the canonical path as the script sees it.
func (s *Sandbox) canonical(path string) string {
	if !s.shadowed() {
		return Canonical(path)
	}
	seen, _ := s.effects.Shadow.Look(path, true)
	return seen
}

// OpenToRead is Open for packages that read files and are independent of the sandbox.
func (s *Sandbox) OpenToRead(path string) (*os.File, error) {
	return s.Open(context.Background(), path, os.O_RDONLY, 0)
}

// ReadFile reads a whole file for the script, up to Options.MaxFile.
func (s *Sandbox) ReadFile(path string) ([]byte, error) {
	f, err := s.OpenToRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	var data []byte
	for err == nil { // a device may be endless
		if n := len(data); n == cap(data) {
			n = max(n+n/4, int(min(size, int64(s.maxFile)))+1, 4096) // devices and /proc have size 0
			if s.fits != nil {
				if err := s.fits(2 * n); err != nil { // it becomes a text in the script
					return nil, err
				}
			}
			data = append(make([]byte, 0, n), data...)
		}
		var n int
		n, err = f.Read(data[len(data):cap(data)])
		if data = data[:len(data)+n]; len(data) > s.maxFile {
			return nil, TooLong("read", float64(len(data)), s.maxFile)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return data, err
}

// PermitModule checks whether a script may require a path, whether or not there
// is a file. Lua files in the given folders, canonical paths, are part of the
// script and need no permission.
func (s *Sandbox) PermitModule(path string, folders []string) error {
	if !s.Restricted() || len(folders) > 0 && ownModule(Canonical(path), folders) {
		return nil
	}
	return s.Permit(Read, path)
}

func ownModule(real string, folders []string) bool {
	return filepath.Ext(real) == ".lua" && Below(real, folders...)
}

// ReadModule reads the source of a module that PermitModule permits.
func (s *Sandbox) ReadModule(path string, folders []string) ([]byte, error) {
	real := Canonical(path)
	if !s.Restricted() || !ownModule(real, folders) {
		return s.ReadFile(path)
	}
	f, err := openChecked(real, os.O_RDONLY, 0)
	if err != nil {
		return nil, withPath(err, path)
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Stat describes a file or folder for the script.
func (s *Sandbox) Stat(path string) (os.FileInfo, error) { return s.describe(path, true) }

// Lstat describes a file, a folder or a link for the script.
func (s *Sandbox) Lstat(path string) (os.FileInfo, error) { return s.describe(path, false) }

func (s *Sandbox) describe(path string, follow bool) (os.FileInfo, error) {
	real := path
	if s.Restricted() {
		if real = s.canonical(path); !follow {
			dir, name := filepath.Split(filepath.Clean(path))
			real = filepath.Join(s.canonical(cmp.Or(dir, ".")), name)
		}
		if err := s.permit(Read, real); err != nil {
			return nil, err
		}
	}
	switch {
	case s.shadowed():
		return s.effects.Shadow.Stat(path, follow)
	case !s.Restricted() && follow:
		return os.Stat(path)
	case !s.Restricted():
		return os.Lstat(path)
	}
	folder, name, err := openParent(real)
	if err != nil {
		return nil, withPath(err, path)
	}
	defer folder.Close()
	info, err := folder.Lstat(name)
	return info, withPath(err, path)
}

// ReadDir lists a folder for the script, sorted by name.
func (s *Sandbox) ReadDir(path string) ([]os.DirEntry, error) {
	f, err := s.OpenToRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Readable returns the paths that the script may read: links in a readable folder can lead out of it.
func (s *Sandbox) Readable(paths []string) []string {
	if !s.Restricted() {
		return paths
	}
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return s.Permit(Read, path) != nil })
}

// Folder checks whether the script may write path, which itself may be a link,
// and opens the folder that contains it, for changing names in it.
func (s *Sandbox) Folder(path string) (folder *os.Root, name string, err error) {
	real, err := s.mayReplace(path)
	if err != nil {
		return nil, "", err
	}
	folder, name, err = openParent(real)
	return folder, name, withPath(err, path)
}

// mayReplace checks whether the script may write path, which itself may be a link, and returns it with its
// parents resolved.
func (s *Sandbox) mayReplace(path string) (real string, err error) {
	dir, name := filepath.Split(filepath.Clean(path))
	real = filepath.Join(s.canonical(cmp.Or(dir, ".")), name)
	if s.Restricted() {
		for _, a := range []Access{Write, replace} {
			if err := s.permit(a, real); err != nil {
				return "", err
			}
		}
	}
	return real, nil
}

// keepsManifests checks that a folder to be removed or moved contains no manifest: other scripts would lose
// theirs.
func (s *Sandbox) keepsManifests(folder *os.Root, name string) error {
	return filepath.WalkDir(filepath.Join(folder.Name(), name), func(path string, _ fs.DirEntry, _ error) error {
		if !isManifest(path) {
			return nil // what cannot be listed cannot be removed either
		}
		return s.permit(Write, path)
	})
}

// Into opens a folder, creating it if missing, in which the script will create a file of that name; "" means
// the folder itself.
func (s *Sandbox) Into(ctx context.Context, folder, name string) (*os.Root, error) {
	if s.effects == nil {
		return s.Receive(folder, name)
	}
	real, err := s.mayReplace(filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	kind := CreateFile
	if _, err := s.Stat(real); err == nil {
		kind = ChangeFile
	}
	happens, err := s.changes(ctx, kind, real, "")
	if err != nil || happens {
		if err != nil {
			return nil, err
		}
		return s.Receive(folder, name)
	}
	if err := s.effects.Shadow.MakeFolder(folder); err != nil {
		return nil, err
	}
	root, _, err := s.effects.Shadow.Create(real)
	return root, err
}

// Receive is like Into, for a download, which the platform's operation is checked for.
func (s *Sandbox) Receive(folder, name string) (*os.Root, error) {
	real := Canonical(folder)
	if s.Restricted() {
		if err := s.permit(Write, filepath.Join(real, name)); err != nil {
			return nil, err
		}
	}
	root, err := makeFolder(real)
	return root, withPath(err, folder)
}

// makeFolder opens the folder at a canonical path. It creates missing folders one by one, each below a
// verified one.
func makeFolder(real string) (*os.Root, error) {
	root, err := openFolder(real)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(real) == real {
		return root, err
	}
	parent, err := makeFolder(filepath.Dir(real))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	if err := parent.Mkdir(filepath.Base(real), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return openFolder(real)
}

// Create starts a file of the script that appears under its name when committed. It replaces the target of a
// link, not the link.
func (s *Sandbox) Create(ctx context.Context, path string) (*atomicfile.File, error) {
	real, err := s.mayReplace(s.canonical(path))
	if err != nil {
		return nil, err
	}
	kind := CreateFile
	if _, err := s.Lstat(real); err == nil {
		kind = ChangeFile
	}
	happens, err := s.changes(ctx, kind, real, "")
	if err != nil {
		return nil, err
	}
	open := openParent
	if !happens {
		open = s.effects.Shadow.Create
	}
	folder, name, err := open(real)
	if err != nil {
		return nil, withPath(err, path)
	}
	f, err := atomicfile.Create(folder, name, 0o644)
	return f, withPath(err, path)
}

// WriteFile writes a file for the script in one step.
func (s *Sandbox) WriteFile(ctx context.Context, path string, data []byte) error {
	f, err := s.Create(ctx, path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// MakeFolder makes a folder and its parents for the script.
func (s *Sandbox) MakeFolder(ctx context.Context, path string) error {
	if s.effects != nil {
		if info, err := s.Stat(path); err == nil && info.IsDir() {
			return nil
		}
		real := s.canonical(path)
		if s.Restricted() {
			if err := s.permit(Write, real); err != nil {
				return err
			}
		}
		if happens, err := s.changes(ctx, CreateFolder, real, ""); err != nil || !happens {
			return cmp.Or(err, withPath(s.effects.Shadow.MakeFolder(path), path))
		}
	}
	if !s.Restricted() {
		return os.MkdirAll(path, 0o777)
	}
	folder, err := s.Receive(path, "")
	if err != nil {
		return err
	}
	return folder.Close()
}

// Remove removes a file or an empty folder for the script; with all, a folder and its contents. For a link it
// removes the link.
func (s *Sandbox) Remove(ctx context.Context, path string, all bool) error {
	if s.effects != nil {
		real, err := s.mayReplace(path)
		if err != nil {
			return err
		}
		kind := RemoveFile
		if info, err := s.Lstat(path); err == nil && info.IsDir() {
			kind = RemoveFolder
		} else if errors.Is(err, fs.ErrNotExist) && all {
			return nil
		} else if err != nil {
			return err
		}
		happens, err := s.changes(ctx, kind, real, "")
		if err != nil || !happens {
			return cmp.Or(err, withPath(s.effects.Shadow.Remove(path, all), path))
		}
	}
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
		if err := s.keepsManifests(folder, name); err != nil {
			return err
		}
		return withPath(folder.RemoveAll(name), path)
	}
	return withPath(folder.Remove(name), path)
}

// Rename moves a file or folder for the script. The result is readable at the
// new path, so a restricted script must be allowed to read the old one.
func (s *Sandbox) Rename(ctx context.Context, from, to string) error {
	if s.effects != nil {
		old, err := s.mayReplace(from)
		if err != nil {
			return err
		}
		target, err := s.mayReplace(to)
		if err != nil {
			return err
		}
		if _, err := s.Lstat(from); err != nil {
			return err
		}
		happens, err := s.changes(ctx, MoveFile, old, target)
		if err != nil || !happens {
			return cmp.Or(err, s.effects.Shadow.Rename(from, to))
		}
	}
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
	if err := s.keepsManifests(source, name); err != nil {
		return err
	}
	target, other, err := s.Folder(to)
	if err != nil {
		return err
	}
	defer target.Close()
	return renameAt(source, name, target, other)
}

// TooLong returns the error of an operation whose result of length bytes exceeds limit.
func TooLong(operation string, length float64, limit int) error {
	return fault.Hinted(fault.Of(&fault.LimitError{}, "%s would build a string of %s, the limit is %s",
		operation, human.Limit(int64(length)), human.Limit(int64(limit))), "read and write large data piece by piece")
}
