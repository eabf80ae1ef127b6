// Package lines reads texts of any size line by line.
package lines

import (
	"bufio"
	"io"

	"transect/client/fault"
)

// longest bounds the memory a file without line ends can take.
const longest = 64 << 20

// Reader reads the lines of a text. It is for one goroutine at a time.
type Reader struct {
	in     *bufio.Scanner
	number int
}

// New reads lines from r.
func New(r io.Reader) *Reader {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), longest)
	return &Reader{in: in}
}

// Number is that of the line read last, from 1.
func (l *Reader) Number() int { return l.number }

// Next is the next line without its end, which is \n or \r\n; ok is false
// after the last one.
func (l *Reader) Next() (line string, ok bool, err error) {
	if l.in.Scan() && l.in.Err() == nil { // not what came before a failed read
		l.number++
		return l.in.Text(), true, nil
	}
	if err = l.in.Err(); err == bufio.ErrTooLong {
		err = fault.Of(&fault.LimitError{}, "line %d is longer than %d MiB", l.number+1, longest>>20)
	}
	return "", false, err
}
