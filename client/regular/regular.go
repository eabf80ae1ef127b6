// Package regular opens files that a folder offers. What looks like a file there may be a
// pipe that nobody writes, a device without an end, or a link to one: only regular files
// are opened, and opening never waits.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"transect/client/human"
)

// ErrOther means that there is something else than a regular file.
var ErrOther = errors.New("it is not a regular file")

// Open opens a regular file, or one that a link leads to, to read it.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is opened at once, to be refused
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = Check(path, info)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// Check returns an error unless info is that of a regular file.
func Check(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: ErrOther}
}

// Read reads a regular file of most bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, most)
}

// ReadAll reads most bytes. More are an error.
func ReadAll(r io.Reader, path string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %s", human.Limit(most))}
	}
	return text, err
}
