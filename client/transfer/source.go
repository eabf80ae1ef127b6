package transfer

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/files"
	"transect/client/journal"
)

// source is a local file being uploaded, with its state at opening.
type source struct {
	path   string
	tree   files.Tree
	file   *os.File
	info   fs.FileInfo
	buffer []byte // its content, if it fits into memory
}

func openSource(path string, tree files.Tree) (*source, error) {
	// Stat first: opening a pipe would block until its other end opens.
	info, err := tree.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fault.Of(&fault.UploadError{}, "%s is not a file", path)
	}
	if err == nil && info.Size() == 0 {
		return nil, fault.Of(&fault.UploadError{}, "%s is empty", path)
	}
	s := &source{path: path, tree: tree}
	if err == nil {
		s.file, err = tree.Open(path)
	}
	if err == nil {
		if s.info, err = s.file.Stat(); err != nil {
			_ = s.file.Close() // only read from
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Hinted(fault.Of(&fault.UploadError{}, "there is no file %s", path), "check the path")
	case fault.Find(err) != nil:
		return nil, err
	case err != nil:
		return nil, s.unreadable(err)
	}
	return s, nil
}

// Open opens a file for upload, with the errors of an upload.
func (t *Transfers) Open(path string) (*os.File, error) {
	s, err := openSource(path, t.Tree)
	if err != nil {
		return nil, err
	}
	return s.file, nil
}

func (s *source) close() { _ = s.file.Close() } // only read from

// load reads the file into a buffer of its size.
func (s *source) load(buffer []byte, stats *Stats) error {
	s.buffer = buffer
	began := time.Now()
	n, err := s.file.ReadAt(buffer, 0)
	stats.since(onDisk, began)
	switch {
	case n == len(buffer):
		return nil
	case err == nil, errors.Is(err, io.EOF):
		return s.changed()
	}
	return s.unreadable(err)
}

// unchanged fails when the file has changed since it was opened.
func (s *source) unchanged() error {
	now, err := s.tree.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Hinted(fault.Of(&fault.UploadError{}, "%s was removed while it was uploaded", s.path),
			"the upload was not completed; run again when the file is there")
	case err != nil:
		return s.unreadable(err)
	case !os.SameFile(now, s.info), now.Size() != s.info.Size(), !now.ModTime().Equal(s.info.ModTime()):
		return s.changed()
	}
	return nil
}

func (s *source) changed() error {
	return fault.Hinted(fault.Of(&fault.UploadError{}, "%s changed while it was uploaded", s.path),
		"the upload was not completed; run again when nothing writes to the file")
}

func (s *source) unreadable(err error) error {
	return fault.Of(&fault.UploadError{}, "cannot read %s: %w", s.path, fault.Reason(err))
}

// state returns the journal's key of the file. Links are not resolved: they may point elsewhere the next time.
func (s *source) state() journal.File {
	path := s.path
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return journal.File{Path: path, Size: s.info.Size(), ModTime: s.info.ModTime()}
}

// normalizeMD5 returns an MD5 in lower case; an empty one stays empty.
func normalizeMD5(given string) (string, error) {
	sum := strings.ToLower(strings.TrimSpace(given))
	if b, err := hex.DecodeString(sum); sum != "" && (err != nil || len(b) != md5.Size) {
		return "", fault.Of(&fault.ParameterError{}, "%q is not an MD5 checksum: 32 hexadecimal digits", given)
	}
	return sum, nil
}
