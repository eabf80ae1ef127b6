// Package lines reads texts of any size line by line.
package lines

import (
	"bufio"
	"bytes"
	"io"
	"unsafe"

	"transect/client/fault"
)

// longest limits the length of a line, and thus the memory for a file without line ends.
const longest = 64 << 20

// Reader reads the lines of a text. It is not safe for concurrent use.
type Reader struct {
	// Fits is called before n bytes are allocated for a long line; optional.
	Fits func(n int) error

	in     *bufio.Reader
	number int
}

// New reads lines from r.
func New(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, 64<<10)} }

// Number returns the number of the last line, from 1.
func (l *Reader) Number() int { return l.number }

// Next returns the next line without its \n or \r\n; ok is false after the last one.
func (l *Reader) Next() (line string, ok bool, err error) {
	piece, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		piece, err = l.long(piece)
	} else {
		piece = bytes.Clone(piece)
	}
	if err == io.EOF {
		err = nil
	}
	if err != nil || len(piece) == 0 { // text before a failed read is not a line
		return "", false, err
	}
	l.number++
	piece = bytes.TrimSuffix(bytes.TrimSuffix(piece, []byte("\n")), []byte("\r"))
	return unsafe.String(unsafe.SliceData(piece), len(piece)), true, nil
}

// long reads the rest of a line that is longer than the buffer.
func (l *Reader) long(begin []byte) (line []byte, err error) {
	for piece, err := begin, bufio.ErrBufferFull; ; piece, err = l.in.ReadSlice('\n') {
		need := len(line) + len(piece)
		if need > longest {
			return nil, fault.Of(&fault.LimitError{}, "line %d is longer than %d MiB", l.number+1, longest>>20)
		}
		if need > cap(line) {
			size := need + need/2
			if l.Fits != nil {
				if err := l.Fits(size); err != nil {
					return nil, err
				}
			}
			line = append(make([]byte, 0, size), line...)
		}
		if line = append(line, piece...); err != bufio.ErrBufferFull {
			return line, err
		}
	}
}
