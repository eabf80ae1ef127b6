package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"transect/client/fault"
)

// readBuffer is what hashing holds of a file at a time.
const readBuffer = 256 << 10

// source is the file being sent, as it was when it was opened.
type source struct {
	path string
	file *os.File
	info fs.FileInfo
	held *held // the file in memory, when it fits
}

func openSource(path string, open func(string) (*os.File, error)) (*source, error) {
	// Before opening: a pipe would wait for its other end.
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fault.Of(&fault.UploadError{}, "%s is not a file", path)
	}
	if err == nil && info.Size() == 0 {
		return nil, fault.Of(&fault.UploadError{}, "%s is empty", path)
	}
	var file *os.File
	if err == nil {
		file, err = open(path)
	}
	if err == nil {
		if info, err = file.Stat(); err != nil {
			_ = file.Close() // only read from
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Hinted(fault.Of(&fault.UploadError{}, "there is no file %s", path), "check the path")
	case fault.Find(err) != nil:
		return nil, err
	case err != nil:
		return nil, fault.Of(&fault.UploadError{}, "cannot read %s: %w", path, fault.Reason(err))
	}
	return &source{path: path, file: file, info: info}, nil
}

func (s *source) close() {
	_ = s.file.Close() // only read from
	s.held.release()
}

// unchanged fails when the file is not what it was when it was opened.
func (s *source) unchanged() error {
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Hinted(fault.Of(&fault.UploadError{}, "%s was removed while it was uploaded", s.path),
			"nothing was completed; upload it again when it is there")
	case err != nil:
		return fault.Of(&fault.UploadError{}, "cannot read %s: %w", s.path, fault.Reason(err))
	case !os.SameFile(now, s.info), now.Size() != s.info.Size(), !now.ModTime().Equal(s.info.ModTime()):
		return s.changed()
	}
	return nil
}

func (s *source) changed() error {
	return fault.Hinted(fault.Of(&fault.UploadError{}, "%s changed while it was uploaded", s.path),
		"nothing was completed; upload it again when nothing writes to it")
}

// sums are a file's checksums: of the whole, and of each part when it is cut.
type sums struct {
	whole string
	parts []string
}

// hold reads the file into memory.
func (s *source) hold(ctx context.Context, h *held, stats *Stats) error {
	s.held = h
	for i := range h.blocks {
		if ctx.Err() != nil {
			return fault.Stopped(ctx)
		}
		from := time.Now()
		b := h.block(i)
		n, err := s.file.ReadAt(b, int64(i)*memoryBlock)
		stats.since(onDisk, from)
		switch {
		case n == len(b):
		case err == nil, errors.Is(err, io.EOF):
			return s.changed()
		default:
			return fault.Of(&fault.UploadError{}, "cannot read %s: %w", s.path, fault.Reason(err))
		}
	}
	return nil
}

// state is how the journal knows the file. Links are not resolved: they may point
// elsewhere the next time.
func (s *source) state() File {
	path := s.path
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return File{Path: path, Size: s.info.Size(), ModTime: s.info.ModTime()}
}

// readerOf stops reading when its context ends.
type readerOf struct {
	ctx context.Context
	r   io.Reader
}

func (r readerOf) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}
