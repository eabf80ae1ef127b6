package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"transect/client/fault"
)

// readBuffer is what hashing holds of a file at a time.
const readBuffer = 256 << 10

// source is the file being sent, as it was when it was opened.
type source struct {
	path string
	file *os.File
	info fs.FileInfo
}

func openSource(path string) (*source, error) {
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
		file, err = os.Open(path)
	}
	if err == nil {
		if info, err = file.Stat(); err != nil {
			_ = file.Close() // only read from
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Hinted(fault.Of(&fault.UploadError{}, "there is no file %s", path), "check the path")
	case err != nil:
		return nil, fault.Of(&fault.UploadError{}, "cannot read %s: %w", path, plainCause(err))
	}
	return &source{path: path, file: file, info: info}, nil
}

func (s *source) close() { _ = s.file.Close() } // only read from

// unchanged fails when the file is not what it was when it was opened.
func (s *source) unchanged() error {
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Hinted(fault.Of(&fault.UploadError{}, "%s was removed while it was uploaded", s.path),
			"nothing was completed; upload it again when it is there")
	case err != nil:
		return fault.Of(&fault.UploadError{}, "cannot read %s: %w", s.path, plainCause(err))
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

// hash reads the file once for all its checksums. given is the checksum of the
// whole when it is known already.
func (s *source) hash(ctx context.Context, h Hasher, p plan, given string) (sums, error) {
	out := sums{whole: given}
	if given != "" && p.parts == 1 {
		return out, nil
	}
	whole := h.New()
	buffer := make([]byte, readBuffer)
	for n := 1; n <= p.parts; n++ {
		offset, size := p.span(n)
		to := io.Writer(whole)
		part := h.New()
		switch {
		case given != "":
			to = part
		case p.parts > 1:
			to = io.MultiWriter(whole, part)
		}
		section := readerOf{ctx: ctx, r: io.NewSectionReader(s.file, offset, size)}
		read, err := io.CopyBuffer(to, section, buffer)
		switch {
		case ctx.Err() != nil:
			return sums{}, stopped(ctx)
		case err != nil:
			return sums{}, fault.Of(&fault.UploadError{}, "cannot read %s: %w", s.path, plainCause(err))
		case read < size:
			return sums{}, s.changed()
		}
		if p.parts > 1 {
			out.parts = append(out.parts, hexSum(part))
		}
	}
	if given == "" {
		out.whole = hexSum(whole)
	}
	return out, nil
}

// state names what the journal knows the file by. Two paths of one file are two
// files: a link may point elsewhere the next time.
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

// sending is one attempt at one span of the file: it counts what leaves, and
// takes the count back when the attempt was for nothing.
type sending struct {
	src      *source
	section  *io.SectionReader
	progress func(int64)

	mu    sync.Mutex
	left  int64 // bytes still to be read
	sent  int64
	over  bool // nothing counts any more
	fault error
}

func (s *source) send(offset, size int64, progress func(int64)) *sending {
	return &sending{src: s, section: io.NewSectionReader(s.file, offset, size), left: size, progress: progress}
}

// Read reads on. A file that ends early breaks the request off, rather than
// letting it be filled from nowhere.
func (a *sending) Read(b []byte) (int, error) {
	n, err := a.section.Read(b)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return 0, fs.ErrClosed // the connection may still read after its answer
	}
	a.left -= int64(n)
	a.sent += int64(n)
	if a.progress != nil && n > 0 {
		a.progress(int64(n))
	}
	switch {
	case errors.Is(err, io.EOF) && a.left > 0:
		a.fault = a.src.changed()
		return n, a.fault
	case err != nil && !errors.Is(err, io.EOF):
		a.fault = fault.Of(&fault.UploadError{}, "cannot read %s: %w", a.src.path, plainCause(err))
		return n, a.fault
	}
	return n, err
}

// Close ends the reading of this attempt.
func (a *sending) Close() error { return nil }

// end stops the counting and gives the error met while reading. Bytes of a
// failed attempt are taken back.
func (a *sending) end(ok bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	if !ok && a.progress != nil && a.sent > 0 {
		a.progress(-a.sent)
	}
	return a.fault
}

// plainCause is a file error without the operation and the path, which the
// message around it names.
func plainCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
