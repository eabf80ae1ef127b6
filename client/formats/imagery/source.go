package imagery

import (
	"io"
	"sync"
)

// windowSize is how much a small read reads ahead, because headers and directories are read a few
// bytes at a time.
const windowSize = 16 << 10

var windows = sync.Pool{New: func() any { return new([windowSize]byte) }}

// source provides random access to an image and keeps the first read error.
type source struct {
	r    io.ReaderAt
	size int64
	err  error // the first error other than the end of the file

	window *[windowSize]byte // the last bytes read, or nil
	from   int64             // offset of the window
	filled int64             // bytes in the window
}

func newSource(r io.ReaderAt, size int64) *source { return &source{r: r, size: size} }

// release releases the window.
func (s *source) release() {
	if s.window != nil {
		windows.Put(s.window)
		s.window, s.filled = nil, 0
	}
}

// ReadAt implements io.ReaderAt; it is not safe for concurrent use. It serves small reads from the
// window. io.EOF also means that the file has become shorter.
func (s *source) ReadAt(b []byte, offset int64) (n int, err error) {
	if offset < 0 || offset >= s.size {
		return 0, io.EOF
	}
	within := b[:min(int64(len(b)), s.size-offset)]
	if len(within) > windowSize/2 || offset+int64(len(within)) == s.size { // the end is read only once
		n, err = s.r.ReadAt(within, offset)
	} else {
		if offset < s.from || offset+int64(len(within)) > s.from+s.filled {
			if s.window == nil {
				s.window = windows.Get().(*[windowSize]byte)
			}
			n, err = s.r.ReadAt(s.window[:min(windowSize, s.size-offset)], offset)
			s.from, s.filled = offset, int64(n)
		}
		n = copy(within, s.window[offset-s.from:s.filled])
	}
	switch {
	case n == len(b):
		return n, nil
	case n == len(within) || err == nil:
		err = io.EOF
	}
	if err != io.EOF && s.err == nil {
		s.err = err
	}
	return n, err
}
