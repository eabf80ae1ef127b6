package imagery

import (
	"errors"
	"io"
	"sync"
)

// windowSize is how much a small read reads ahead: headers and directories are
// read a few bytes at a time.
const windowSize = 16 << 10

var windows = sync.Pool{New: func() any { return new([windowSize]byte) }}

// source is random access to an image. It remembers a failed read.
type source struct {
	r    io.ReadSeeker
	size int64
	err  error // the first failure that is not the end of the file

	window *[windowSize]byte // the bytes read last, or nil
	from   int64             // offset of the window
	filled int64             // bytes in the window
}

func newSource(r io.ReadSeeker, size int64) *source { return &source{r: r, size: size} }

// done releases the window.
func (s *source) done() {
	if s.window != nil {
		windows.Put(s.window)
		s.window, s.filled = nil, 0
	}
}

// ReadAt implements io.ReaderAt; it is not safe for concurrent use.
func (s *source) ReadAt(b []byte, offset int64) (int, error) {
	if offset < 0 || offset >= s.size {
		return 0, io.EOF
	}
	asked := len(b)
	b = b[:min(int64(asked), s.size-offset)]
	n, err := s.near(b, offset)
	if err == nil && n < asked {
		err = io.EOF
	}
	s.fail(err)
	return n, err
}

// near fills b, from the window when b is small.
func (s *source) near(b []byte, offset int64) (int, error) {
	if len(b) > windowSize/2 {
		return s.read(b, offset)
	}
	if offset < s.from || offset+int64(len(b)) > s.from+s.filled {
		if s.window == nil {
			s.window = windows.Get().(*[windowSize]byte)
		}
		n, err := s.read(s.window[:min(windowSize, s.size-offset)], offset)
		if s.from, s.filled = offset, int64(n); n < len(b) {
			return copy(b, s.window[:n]), err
		}
	}
	return copy(b, s.window[offset-s.from:s.filled]), nil
}

// read fills b; io.EOF means that the file has become shorter.
func (s *source) read(b []byte, offset int64) (n int, err error) {
	if at, ok := s.r.(io.ReaderAt); ok {
		if n, err = at.ReadAt(b, offset); n == len(b) {
			err = nil
		}
		return n, err
	}
	if _, err := s.r.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	if n, err = io.ReadFull(s.r, b); errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

func (s *source) fail(err error) {
	if err != nil && err != io.EOF && s.err == nil {
		s.err = err
	}
}
