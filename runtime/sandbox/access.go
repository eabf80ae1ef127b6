package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
)

// Access is a kind of resource outside the interpreter.
type Access string

// The kinds of access, identified by: a path, a path, host:port, a variable name, the path of a program,
// manager.operation.
const (
	Read  Access = "read"
	Write Access = "write"
	Net   Access = "net"
	Env   Access = "env"
	Exec  Access = "run"
	Op    Access = "ops"

	// Notify is a target of a worker's notices about a job: //host:port, mailto:address, or a command. Only
	// the policies of workers cover it.
	Notify Access = "notify"
)

// replace is checked in addition to Write before a name is removed, moved or overwritten: folders in which a
// script may write can contain files it must not remove.
const replace Access = "replace"

// Shell is the program run by os.execute and io.popen. It can run anything.
const Shell = "sh"

// Permit checks whether the script has access. Paths are in the form of Interp.Path. Code that then opens or
// changes a file uses Open or Folder, which ensure that it is the checked file.
func (s *Sandbox) Permit(a Access, what string) error {
	if s.leased != nil && (a == Net || a == Exec) {
		if err := s.leased(); err != nil {
			return err
		}
	}
	if s.permit == nil {
		return nil
	}
	if a == Read || a == Write {
		what = Canonical(what)
	}
	return s.permit(a, what)
}

// Sending checks whether n more bytes may be sent.
func (s *Sandbox) Sending(n int64) error {
	if s.sending == nil {
		return nil
	}
	return s.sending(n)
}

// Restricted reports whether any access is restricted.
func (s *Sandbox) Restricted() bool { return s.permit != nil }

// Canonical returns the absolute path without symbolic links. A part that does not exist yet is kept
// unchanged.
func Canonical(path string) string { return canonical(path, 40) }

// canonical follows up to links dangling links: systems stop after 40, too.
func canonical(path string, links int) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		// Creating a file at a dangling link creates the link's target.
		if target, err := os.Readlink(dir); err == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(dir), target)
			}
			if rest = filepath.Join(target, rest); links > 0 && target != dir {
				return canonical(rest, links-1)
			}
			return path
		}
		if filepath.Dir(dir) == dir {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// Below reports whether a canonical path is one of the folders or inside one.
func Below(real string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		rel, err := filepath.Rel(folder, real)
		return err == nil && (rel == "." || filepath.IsLocal(rel))
	})
}

// The functions below open the file at a canonical path and ensure that it was not replaced since the path
// was resolved and checked.

// openChecked opens a file.
func openChecked(real string, flag int, perm os.FileMode) (*os.File, error) {
	folder, name, err := openParent(real)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	// Truncated only once it is known to be the right file.
	file, err := folder.OpenFile(name, flag&^os.O_TRUNC, perm)
	if err != nil {
		return nil, err
	}
	err = verify(file, real)
	if err == nil && flag&os.O_TRUNC != 0 {
		err = file.Truncate(0)
		if info, e := file.Stat(); err != nil && (e != nil || !info.Mode().IsRegular()) {
			err = nil // devices and pipes cannot be truncated
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// openParent opens the folder that contains a path.
func openParent(real string) (folder *os.Root, name string, err error) {
	dir, name := filepath.Dir(real), filepath.Base(real)
	if dir == real {
		name = "."
	}
	folder, err = openFolder(dir)
	return folder, name, err
}

// openFolder opens a folder.
func openFolder(real string) (*os.Root, error) {
	folder, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	self, err := folder.Open(".")
	if err == nil {
		err = verify(self, real)
		self.Close()
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return folder, nil
}

// verify checks that an open file is the one at its path.
func verify(file *os.File, real string) error {
	replaced := &os.PathError{Op: "open", Path: real, Err: errors.New("the file is no longer where it was")}
	if path, ok := pathOf(file); ok {
		if path != real {
			return replaced
		}
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Lstat(real); err != nil || !os.SameFile(info, now) || Canonical(real) != real {
		return replaced
	}
	return nil
}

// pathOf returns the path of an open file from the system. Linux only.
func pathOf(file *os.File) (path string, ok bool) {
	if runtime.GOOS != "linux" {
		return "", false
	}
	conn, err := file.SyscallConn() // Fd would put a pipe into blocking mode
	if err != nil {
		return "", false
	}
	failed := conn.Control(func(fd uintptr) { path, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd))) })
	return path, failed == nil && err == nil && filepath.IsAbs(path)
}

// withPath sets the path in a file error to the script's.
func withPath(err error, path string) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return &os.PathError{Op: p.Op, Path: path, Err: p.Err}
	}
	return err
}
