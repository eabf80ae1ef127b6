package imagery

import (
	"errors"
	"io"
	"sync"
)

// windowSize is how much is read of a file at once where little is asked for:
// headers and directories are read a few bytes at a time.
const windowSize = 16 << 10

var windows = sync.Pool{New: func() any { return new([windowSize]byte) }}

// source gives random access to an image and remembers a failing read.
type source struct {
	r    io.ReadSeeker
	size int64
	err  error // the first failure that is not the end of the file

	window *[windowSize]byte // what was read last, unless nil
	from   int64
	held   int64 // bytes of it
}

func newSource(r io.ReadSeeker, size int64) *source { return &source{r: r, size: size} }

// done gives back what a source has used.
func (s *source) done() {
	if s.window != nil {
		windows.Put(s.window)
		s.window, s.held = nil, 0
	}
}

// ReadAt implements io.ReaderAt, for one caller at a time.
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

// near reads b, from the window where that is worth it.
func (s *source) near(b []byte, offset int64) (int, error) {
	if len(b) > windowSize/2 {
		return s.read(b, offset)
	}
	if offset < s.from || offset+int64(len(b)) > s.from+s.held {
		if s.window == nil {
			s.window = windows.Get().(*[windowSize]byte)
		}
		n, err := s.read(s.window[:min(windowSize, s.size-offset)], offset)
		if s.from, s.held = offset, int64(n); n < len(b) {
			return copy(b, s.window[:n]), err
		}
	}
	return copy(b, s.window[offset-s.from:s.held]), nil
}

// read reads b. A file that has become shorter ends early.
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
