package shadow

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"transect/client/fault"
	"transect/runtime/sandbox"
)

// Open opens a file or a folder. Writing goes to a copy.
func (s *Files) Open(path string, flag int, perm os.FileMode) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, real, err := s.find(path, true)
	if err != nil {
		return nil, err
	}
	info, err := stat("open", path, real)
	writes := flag&(os.O_RDWR|os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0
	switch {
	case err == nil && info.IsDir() && !writes:
		return s.openFolder(seen, real)
	case err == nil && !writes:
		return os.OpenFile(real, flag, perm)
	case err == nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	case err == nil && harmless(real, info):
		return os.OpenFile(real, flag, perm)
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case err == nil && !info.Mode().IsRegular():
		return nil, sandbox.NotPlanned(path)
	case err != nil && (!errors.Is(err, fs.ErrNotExist) || flag&os.O_CREATE == 0):
		return nil, err
	case err == nil:
		f, err := os.OpenFile(real, os.O_WRONLY, 0) // fails if the original is not writable
		if err != nil {
			return nil, err
		}
		_ = f.Close() // nothing was written
		perm = info.Mode().Perm()
	}
	if err != nil { // the file is new
		if err := s.parent("open", path, seen); err != nil {
			return nil, err
		}
	}
	copied, err := s.fresh(filepath.Base(seen))
	if err == nil && info != nil && flag&os.O_TRUNC == 0 {
		err = copyFile(real, copied, perm)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(copied, flag|os.O_CREATE, perm)
	if err == nil {
		s.put(seen, copied)
	}
	return f, err
}

// harmless reports whether writing to a file has no lasting effect: the null device, and the script's
// terminal.
func harmless(real string, info fs.FileInfo) bool {
	return info.Mode()&fs.ModeCharDevice != 0 && slices.Contains([]string{os.DevNull, "/dev/tty"}, real) ||
		strings.HasPrefix(real, "/dev/pts/") || strings.HasPrefix(real, "/proc/")
}

// Stat describes the file at a resolved path.
func stat(op, path, real string) (fs.FileInfo, error) {
	if real == "" {
		return nil, &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist}
	}
	return os.Stat(real)
}

// parent checks that the parent folder of a new path exists.
func (s *Files) parent(op, path, seen string) error {
	_, real, err := s.find(filepath.Dir(seen), true)
	if err != nil {
		return err
	}
	info, err := stat(op, path, real)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: op, Path: path, Err: syscall.ENOTDIR}
	}
	return err
}

func copyFile(from, to string, perm os.FileMode) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// openFolder opens a folder for listing. If entries change its contents, it opens a folder of empty files
// with the same names.
func (s *Files) openFolder(seen, real string) (*os.File, error) {
	if s.children(seen) == nil {
		return os.Open(real)
	}
	names, err := s.list(seen, real)
	if err != nil {
		return nil, err
	}
	listed, err := s.fresh(filepath.Base(seen))
	if err == nil {
		err = os.Mkdir(listed, 0o700)
	}
	for _, name := range names {
		at := filepath.Join(listed, name)
		_, content, found := s.find(filepath.Join(seen, name), false)
		if err = errors.Join(err, found); err != nil {
			return nil, err
		}
		info, gone := os.Lstat(content)
		switch {
		case gone != nil:
		case info.IsDir():
			err = os.Mkdir(at, 0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			if target, err = os.Readlink(content); err == nil {
				err = os.Symlink(target, at)
			}
		case info.Mode().IsRegular():
			err = os.WriteFile(at, nil, 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	return os.Open(listed)
}

// put sets the location of a path's content. Entries below the path are dropped.
func (s *Files) put(seen, real string) {
	for path := range s.at {
		if sandbox.Below(path, seen) {
			delete(s.at, path)
		}
	}
	s.at[seen] = real
}

// Stat describes a file, or a link itself.
func (s *Files) Stat(path string, follow bool) (fs.FileInfo, error) {
	_, real := s.Look(path, follow)
	if real == "" {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	if follow {
		return os.Stat(real)
	}
	return os.Lstat(real)
}

// MakeFolder creates a folder and its parents.
func (s *Files) MakeFolder(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.makeFolder(path)
}

func (s *Files) makeFolder(path string) error {
	seen, real, err := s.find(path, true)
	if err != nil {
		return err
	}
	switch info, missing := stat("mkdir", path, real); {
	case missing == nil && info.IsDir():
		return nil
	case missing == nil:
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	case !errors.Is(missing, fs.ErrNotExist):
		return missing
	}
	if _, link, err := s.find(path, false); err != nil || link != real {
		return cmp.Or(err, error(&fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist})) // a dangling link
	}
	if err := s.makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	created, err := s.fresh(filepath.Base(seen))
	if err == nil {
		err = os.Mkdir(created, 0o777)
	}
	if err == nil {
		s.put(seen, created)
	}
	return err
}

// Create returns a folder in which a file will be created under the name of a path. It counts once it exists.
func (s *Files) Create(path string) (folder *os.Root, name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, real, err := s.find(path, true)
	if err == nil {
		err = s.parent("open", path, seen)
	}
	if err == nil {
		if info, missing := lstat("open", path, real); missing == nil && info.IsDir() {
			err = &fs.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
		}
	}
	if err != nil {
		return nil, "", err
	}
	at, ok := s.at[seen]
	created, err := s.fresh(filepath.Base(seen))
	if err != nil {
		return nil, "", err
	}
	switch {
	case !ok || at == "":
	case sandbox.Below(at, s.dir): // it stays until the new one replaces it
		created = at
	default: // moved: the file on disk is not the one to replace
		if err := copyFile(at, created, 0o600); err != nil {
			return nil, "", err
		}
	}
	s.at[seen] = created
	folder, err = os.OpenRoot(filepath.Dir(created))
	return folder, filepath.Base(created), err
}

// Remove removes a file or a folder; with all, including its contents.
func (s *Files) Remove(path string, all bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, real, err := s.find(path, false)
	if err != nil {
		return err
	}
	info, err := lstat("remove", path, real)
	switch {
	case errors.Is(err, fs.ErrNotExist) && all:
		return nil
	case err != nil:
		return err
	case info.IsDir() && !all:
		if err := s.empty("remove", path, seen, real); err != nil {
			return err
		}
	}
	s.put(seen, "")
	return nil
}

func lstat(op, path, real string) (fs.FileInfo, error) {
	if real == "" {
		return nil, &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist}
	}
	return os.Lstat(real)
}

func (s *Files) empty(op, path, seen, real string) error {
	names, err := s.list(seen, real)
	if err == nil && len(names) > 0 {
		err = &fs.PathError{Op: op, Path: path, Err: syscall.ENOTEMPTY}
	}
	return err
}

// Rename moves a file or a folder.
func (s *Files) Rename(from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	failed := func(err error) error { return &os.LinkError{Op: "rename", Old: from, New: to, Err: fault.Reason(err)} }
	seen, real, err := s.find(from, false)
	if err != nil {
		return failed(err)
	}
	info, err := lstat("rename", from, real)
	if err != nil {
		return failed(err)
	}
	target, taken, err := s.find(to, false)
	if err == nil {
		err = s.parent("rename", to, target)
	}
	if err != nil {
		return failed(err)
	}
	switch other, missing := lstat("rename", to, taken); {
	case missing == nil && other.IsDir(): // like os.Rename
		return failed(syscall.EEXIST)
	case target == seen:
		return nil
	case sandbox.Below(target, seen):
		return failed(syscall.EINVAL)
	case missing == nil && info.IsDir():
		return failed(syscall.ENOTDIR)
	}
	moved := map[string]string{}
	for path, at := range s.at {
		if rest, err := filepath.Rel(seen, path); err == nil && filepath.IsLocal(rest) && rest != "." {
			moved[filepath.Join(target, rest)] = at
		}
	}
	s.put(target, real)
	s.put(seen, "")
	for path, at := range moved {
		s.at[path] = at
	}
	return nil
}

// Copy returns the path of a copy of a file, including files with further endings of its name.
func (s *Files) Copy(path string, endings ...string) (string, error) {
	s.mu.Lock()
	copied, err := s.fresh(filepath.Base(path))
	s.mu.Unlock()
	for _, ending := range append([]string{""}, endings...) {
		if err == nil {
			err = copyFile(path+ending, copied+ending, 0o600)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return copied, err
}
