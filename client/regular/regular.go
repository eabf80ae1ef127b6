// Package regular opens files in untrusted folders. A path there may be a pipe without a writer, an
// endless device, or a link to one: only regular files are opened, and opening never blocks.
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

// ErrOther means that a path is not a regular file.
var ErrOther = errors.New("it is not a regular file")

// Open opens a regular file, or a link to one, for reading.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe must not block
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

// Check returns an error unless info describes a regular file.
func Check(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: ErrOther}
}

// Read reads a regular file of at most most bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, most)
}

// ReadAll reads at most most bytes, and fails if there are more.
func ReadAll(r io.Reader, path string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %s", human.Limit(most))}
	}
	return text, err
}
