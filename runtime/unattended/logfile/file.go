// Package logfile writes the output of runs to files: lines with their time,
// rotated files, and buffers for output that may not be wanted.
//
// Rotation is done here and not by a library because several processes may
// write to the same file: they agree by a lock on who rotates it.
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

// File is a log file that is rotated: before it exceeds Size it becomes FILE.1,
// FILE.1 becomes FILE.2, and so on up to Keep. Several processes may write to
// it. After an error it is no longer written; Err returns the error.
type File struct {
	Path      string
	Size      int64 // bytes
	Keep      int   // rotated files to keep; 0 for none
	Exclusive bool  // no other process writes to it

	mu      sync.Mutex
	f       *os.File
	size    int64
	checked time.Time // when the path was last checked
	err     error
}

// checkInterval is how often a file checks whether another process rotated it.
const checkInterval = time.Second

// Open opens the file, so that errors are detected before anything is written.
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
	l.f, l.size, l.checked = f, info.Size(), time.Now()
	return nil
}

// Write appends whole lines.
func (l *File) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = l.write(p)
	}
	return len(p), nil // a log that cannot be written does not stop the run
}

func (l *File) write(p []byte) error {
	if l.f == nil {
		return fs.ErrClosed
	}
	if now := time.Now(); !l.Exclusive && now.Sub(l.checked) >= checkInterval {
		l.checked = now
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

// follow reopens the path when another process has rotated the file.
func (l *File) follow() error {
	opened, err := l.f.Stat()
	if err != nil {
		return err
	}
	l.size = opened.Size()
	current, err := os.Stat(l.Path)
	if err == nil && os.SameFile(opened, current) {
		return nil
	}
	l.f.Close()
	return l.open()
}

// rotate makes room for n bytes.
func (l *File) rotate(n int64) error {
	if !l.Exclusive {
		lock, err := l.lock()
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }()
		if err := l.follow(); err != nil || l.size == 0 || l.size+n <= l.Size {
			return err // another process has rotated it
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
		if err := os.Rename(Rotated(l.Path, i-1), Rotated(l.Path, i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.open()
}

// lock locks the file at the path. When it was rotated while waiting, the lock
// is on an old file and is taken again.
func (l *File) lock() (*flock.Flock, error) {
	for {
		before, err := os.Stat(l.Path)
		if errors.Is(err, fs.ErrNotExist) { // between the two renames by another process
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
		lock := flock.New(l.Path)
		if err := lock.Lock(); err != nil {
			return nil, err
		}
		if after, err := os.Stat(l.Path); err == nil && os.SameFile(before, after) {
			return lock, nil
		}
		_ = lock.Close()
	}
}

// Rotated returns the name of the nth older file; 0 is the file itself.
func Rotated(path string, n int) string {
	if n == 0 {
		return path
	}
	return fmt.Sprintf("%s.%d", path, n)
}

// Err returns the error that stopped writing to the file, or nil.
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
