// Package lines reads texts of any size line by line.
package lines

import (
	"bufio"
	"bytes"
	"io"
	"unsafe"

	"transect/client/fault"
)

// longest bounds the memory a file without line ends can take.
const longest = 64 << 20

// Reader reads the lines of a text. It is for one goroutine at a time.
type Reader struct {
	// Fits is asked before n bytes are allocated for a long line; optional.
	Fits func(n int) error

	in     *bufio.Reader
	number int
}

// New reads lines from r.
func New(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, 64<<10)} }

// Number is that of the line read last, from 1.
func (l *Reader) Number() int { return l.number }

// Next is the next line without its end, which is \n or \r\n; ok is false
// after the last one.
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
	if err != nil || len(piece) == 0 { // what came before a failed read is no line
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
