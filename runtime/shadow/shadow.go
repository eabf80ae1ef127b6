// Package shadow holds the file changes of a script that is only planned, so that the script sees them.
package shadow

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"transect/runtime/sandbox"
)

// Files are the file changes of a script that are not made on disk: new content in a temporary folder, removals and
// moves as entries above the disk. A path without an entry, for itself or a parent folder, is the disk's.
type Files struct {
	mu   sync.Mutex
	dir  string            // holds new content, each file in a separate folder
	next int               // number of the next one
	at   map[string]string // location of the content of a path; "" when it was removed
	owns []string          // folders that are changed on disk
}

// maxLinks limits the links in a path, as on Linux.
const maxLinks = 40

// New returns a shadow without changes.
func New() *Files { return &Files{at: map[string]string{}} }

// Own makes folders the script's: what it changes in them is changed on disk.
func (s *Files) Own(dirs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owns = append(s.owns, dirs...)
}

// Private reports whether a path is in a folder that is changed on disk.
func (s *Files) Private(path string) bool {
	s.mu.Lock()
	owns := slices.Clone(s.owns)
	s.mu.Unlock()
	full, err := filepath.Abs(path)
	return len(owns) > 0 && err == nil && (sandbox.Below(full, owns...) || sandbox.Below(sandbox.Canonical(full), owns...))
}

// Changed reports whether anything was changed.
func (s *Files) Changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.at) > 0
}

// Close removes the new content.
func (s *Files) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
		s.dir = ""
	}
}

// fresh returns a path for new content under a name.
func (s *Files) fresh(name string) (string, error) {
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "transect-rehearsal-")
		if err != nil {
			return "", err
		}
		s.dir, s.owns = dir, append(s.owns, dir, sandbox.Canonical(dir))
	}
	s.next++
	folder := filepath.Join(s.dir, strconv.Itoa(s.next))
	return filepath.Join(folder, name), os.Mkdir(folder, 0o700)
}

// entry returns the location of the content of a path with an entry. An entry whose file was not finished
// counts as none.
func (s *Files) entry(path string) (real string, ok bool) {
	real, ok = s.at[path]
	if ok && real != "" {
		_, err := os.Lstat(real)
		ok = err == nil
	}
	return real, ok
}

// find resolves a path: as the script sees it, absolute and without links, and the location of its content,
// "" when it or a parent folder was removed. It follows a link at the end if follow is set.
func (s *Files) find(path string, follow bool) (seen, real string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
next:
	for range maxLinks {
		volume := filepath.VolumeName(path) + string(filepath.Separator)
		seen, real = volume, volume
		steps := strings.Split(strings.TrimPrefix(path, volume), string(filepath.Separator))
		for i, step := range steps {
			if step == "" {
				continue
			}
			seen = filepath.Join(seen, step)
			if at, ok := s.entry(seen); ok {
				real = at
			} else if real != "" {
				real = filepath.Join(real, step)
			}
			if real == "" || i == len(steps)-1 && !follow {
				continue
			}
			if target, err := os.Readlink(real); err == nil {
				if !filepath.IsAbs(target) {
					target = filepath.Join(filepath.Dir(seen), target)
				}
				path = filepath.Join(append([]string{target}, steps[i+1:]...)...)
				continue next
			}
		}
		return seen, real, nil
	}
	return "", "", &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
}

// Look is like find under the lock, without an error: unresolvable paths do not exist.
func (s *Files) Look(path string, follow bool) (seen, real string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.at) == 0 {
		full, err := filepath.Abs(path)
		if err != nil {
			return path, path
		}
		return full, full
	}
	seen, real, err := s.find(path, follow)
	if err != nil {
		return path, ""
	}
	return seen, real
}

// children returns the names in a folder that have entries, and whether they exist.
func (s *Files) children(seen string) map[string]bool {
	var names map[string]bool
	for path := range s.at {
		if filepath.Dir(path) != seen || path == seen {
			continue
		}
		if real, ok := s.entry(path); ok {
			if names == nil {
				names = map[string]bool{}
			}
			names[filepath.Base(path)] = real != ""
		}
	}
	return names
}

// list returns the names in a folder.
func (s *Files) list(seen, real string) (names []string, err error) {
	entries, err := os.ReadDir(real)
	changed := s.children(seen)
	for _, e := range entries {
		if _, ok := changed[e.Name()]; !ok {
			names = append(names, e.Name())
		}
	}
	for name, there := range changed {
		if there {
			names = append(names, name)
		}
	}
	return names, err
}
