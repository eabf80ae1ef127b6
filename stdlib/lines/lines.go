// Package lines reads texts of any size line by line.
package lines

import (
	"bufio"
	"io"
	"strings"

	"transect/client/fault"
)

// longest bounds the memory a file without line ends can take.
const longest = 64 << 20

// Reader reads the lines of a text. It is for one goroutine at a time.
type Reader struct {
	r      *bufio.Reader
	number int
	over   bool
}

// New reads lines from r.
func New(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Number is that of the line read last, from 1.
func (l *Reader) Number() int { return l.number }

// Next is the next line without its end, which is \n or \r\n; ok is false
// after the last one.
func (l *Reader) Next() (line string, ok bool, err error) {
	if l.over {
		return "", false, nil
	}
	var long []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		if len(long)+len(piece) > longest {
			return "", false, fault.Of(&fault.LimitError{}, "line %d is longer than %d MiB", l.number+1, longest>>20)
		}
		if err == bufio.ErrBufferFull {
			long = append(long, piece...)
			continue
		}
		if err != nil {
			l.over = true
			if err != io.EOF {
				return "", false, err
			}
			if len(long)+len(piece) == 0 {
				return "", false, nil
			}
		}
		l.number++
		text := string(append(long, piece...))
		return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), true, nil
	}
}
