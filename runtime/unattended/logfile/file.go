// Package logfile writes what runs print to files: each line with its time,
// files that grow too large set aside, a few of those kept.
package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// File is a log file that rotates: when it would grow beyond Size it becomes
// FILE.1, FILE.1 becomes FILE.2, and so on up to Keep. Several processes may
// write to it. A file that cannot be written stops being written; Err tells.
type File struct {
	Path string
	Size int64 // bytes
	Keep int   // how many are kept beside it; none when 0
	Lone bool  // no other process writes to it

	mu    sync.Mutex
	f     *os.File
	size  int64
	check time.Time // when the path was last looked at
	err   error
}

// recheck is how often a file looks whether another process set it aside.
const recheck = time.Second

// Open opens the file, so that what is wrong with it shows at once.
func (l *File) Open() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open()
}

func (l *File) open() error {
	f, err := os.OpenFile(l.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	l.f, l.size, l.check = f, info.Size(), time.Now()
	return nil
}

// Write appends whole lines.
func (l *File) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = l.write(p)
	}
	return len(p), nil // a log that cannot be written is no failure of the work
}

func (l *File) write(p []byte) error {
	if l.f == nil {
		return fs.ErrClosed
	}
	if now := time.Now(); !l.Lone && now.Sub(l.check) >= recheck {
		l.check = now
		if err := l.follow(); err != nil {
			return err
		}
	}
	if l.size > 0 && l.size+int64(len(p)) > l.Size {
		if err := l.rotate(int64(len(p))); err != nil {
			return err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return err
}

// follow opens the path anew when another process has set the file aside.
func (l *File) follow() error {
	mine, err := l.f.Stat()
	if err != nil {
		return err
	}
	l.size = mine.Size()
	there, err := os.Stat(l.Path)
	if err == nil && os.SameFile(mine, there) {
		return nil
	}
	l.f.Close()
	return l.open()
}

// rotate sets the file aside, to make room for n bytes.
func (l *File) rotate(n int64) error {
	if !l.Lone {
		turn, err := l.turn()
		if err != nil {
			return err
		}
		defer func() { _ = turn.Close() }()
		if err := l.follow(); err != nil || l.size == 0 || l.size+n <= l.Size {
			return err // somebody else was faster
		}
	}
	l.f.Close()
	l.f = nil
	if l.Keep == 0 {
		if err := os.Remove(l.Path); err != nil {
			return err
		}
	}
	for i := l.Keep; i >= 1; i-- {
		from := Rotated(l.Path, i-1)
		if err := os.Rename(from, Rotated(l.Path, i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.open()
}

// turn locks the file at the path. Where it was set aside while waiting for the
// lock, the lock is of an old file and keeps nobody from the new one.
func (l *File) turn() (*flock.Flock, error) {
	for {
		before, err := os.Stat(l.Path)
		if errors.Is(err, fs.ErrNotExist) { // between the renames of another
			f, err := os.OpenFile(l.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, err
			}
			f.Close()
			continue
		}
		if err != nil {
			return nil, err
		}
		turn := flock.New(l.Path)
		if err := turn.Lock(); err != nil {
			return nil, err
		}
		if after, err := os.Stat(l.Path); err == nil && os.SameFile(before, after) {
			return turn, nil
		}
		_ = turn.Close()
	}
}

// Rotated is the name of the nth older file; 0 is the file itself.
func Rotated(path string, n int) string {
	if n == 0 {
		return path
	}
	return fmt.Sprintf("%s.%d", path, n)
}

// Err is why the file stopped being written, or nil.
func (l *File) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close closes the file.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return err
}
