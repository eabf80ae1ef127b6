package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// Access is a kind of thing outside the interpreter that a script may reach.
type Access string

// The kinds of access and what identifies the target: a path, a path, host:port,
// a variable name, the path of a program, manager.operation.
const (
	Read  Access = "read"
	Write Access = "write"
	Net   Access = "net"
	Env   Access = "env"
	Exec  Access = "run"
	Op    Access = "ops"
)

// Shell is what os.execute and io.popen run. It may run anything.
const Shell = "sh"

// Permit checks whether the script may reach something. Paths are those of
// Interp.Path. Code that then opens or changes a file uses Open or Folder, which
// make sure it is the file that was checked.
func (s *Sandbox) Permit(a Access, what string) error {
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

// Restricted reports whether there is anything the script may not reach.
func (s *Sandbox) Restricted() bool { return s.permit != nil }

// Canonical is the absolute path without symbolic links. What does not exist
// yet is taken as written, below the deepest folder that does.
func Canonical(path string) string { return canonical(path, mostLinks) }

// mostLinks is how many links to nothing are followed, as the system has it
// for links at all.
const mostLinks = 40

func canonical(path string, links int) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		// A link to nothing: creating a file there would make its target.
		if to, err := os.Readlink(at); err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			if rest = filepath.Join(to, rest); links > 0 && to != at {
				return canonical(rest, links-1)
			}
			return path
		}
		if filepath.Dir(at) == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// accessOf is what opening a file with these flags needs.
func accessOf(flag int) []Access {
	switch {
	case flag&os.O_RDWR != 0:
		return []Access{Read, Write}
	case flag&(os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0:
		return []Access{Write}
	}
	return []Access{Read}
}

// Open opens a file for the script, as os.OpenFile does. With walls it asks
// for the file's true path, and then opens that path without following links
// anywhere else: one put there in between opens nothing.
func (s *Sandbox) Open(path string, flag int, perm os.FileMode) (*os.File, error) {
	if !s.Restricted() {
		return os.OpenFile(path, flag, perm)
	}
	real := Canonical(path)
	for _, a := range accessOf(flag) {
		if err := s.permit(a, real); err != nil {
			return nil, err
		}
	}
	file, err := openTrue(real, flag, perm)
	return file, renamed(err, path)
}

// OpenToRead is Open for reading, as packages that know no interpreter take it.
func (s *Sandbox) OpenToRead(path string) (*os.File, error) { return s.Open(path, os.O_RDONLY, 0) }

// openTrue opens the file at a true path, and none that came there meanwhile.
func openTrue(real string, flag int, perm os.FileMode) (*os.File, error) {
	root, name, err := opened(real)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Emptied only when it is known to be the file.
	file, err := root.OpenFile(name, flag&^os.O_TRUNC, perm)
	if err != nil {
		return nil, err
	}
	err = isAt(file, real)
	if err == nil && flag&os.O_TRUNC != 0 {
		err = file.Truncate(0)
		if info, e := file.Stat(); err != nil && (e != nil || !info.Mode().IsRegular()) {
			err = nil // a device or a pipe cannot be emptied
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Folder asks whether the script may write path, which itself may be a link,
// and opens the folder it is in: names changed there are changed nowhere else.
func (s *Sandbox) Folder(path string) (folder *os.Root, name string, err error) {
	dir, name := filepath.Split(filepath.Clean(path))
	if dir == "" {
		dir = "."
	}
	real := filepath.Join(Canonical(dir), name)
	if s.Restricted() {
		if err := s.permit(Write, real); err != nil {
			return nil, "", err
		}
	}
	folder, name, err = opened(real)
	return folder, name, renamed(err, path)
}

// opened opens the folder that a true path is in.
func opened(real string) (*os.Root, string, error) {
	dir, name := filepath.Dir(real), filepath.Base(real)
	if dir == real {
		name = "."
	}
	root, err := openedFolder(dir)
	return root, name, err
}

// openedFolder opens the folder at a true path, and makes sure it still is one.
func openedFolder(real string) (*os.Root, error) {
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err == nil {
		err = isAt(self, real)
		self.Close()
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

var errMoved = errors.New("the file is no longer where it was")

// isAt makes sure that an open file is the one at its true path.
func isAt(file *os.File, real string) error {
	if at, known := locationOf(file); known {
		if at != real {
			return &os.PathError{Op: "open", Path: real, Err: errMoved}
		}
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Lstat(real); err != nil || !os.SameFile(info, now) || Canonical(real) != real {
		return &os.PathError{Op: "open", Path: real, Err: errMoved}
	}
	return nil
}

// renamed gives an error of a file the name the script used.
func renamed(err error, path string) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return &os.PathError{Op: p.Op, Path: path, Err: p.Err}
	}
	return err
}

// Below says whether a true path is one of the folders or inside of one.
func Below(real string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		rel, err := filepath.Rel(folder, real)
		return err == nil && (rel == "." || filepath.IsLocal(rel))
	})
}
