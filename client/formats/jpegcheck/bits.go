package jpegcheck

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
)

var errCut = errors.New("the end is missing")

// window is the size of a read.
const window = 128 << 10

var windows = sync.Pool{New: func() any { return new([window]byte) }}

// bitReader reads bytes, and the bits of entropy-coded data between markers.
type bitReader struct {
	r      io.Reader
	buffer *[window]byte
	at     int   // of the next byte in the buffer
	end    int   // of the bytes in the buffer
	base   int64 // offset of the buffer in the file
	ended  bool  // no more can be read
	failed error // error of the reader

	// The next bits, the first one on top, followed by zeros. Nothing follows a marker: reading on
	// makes left negative.
	word uint64
	left int
}

func newBitReader(r io.Reader) *bitReader {
	return &bitReader{r: r, buffer: windows.Get().(*[window]byte)}
}

func (b *bitReader) release() { windows.Put(b.buffer) }

// offset returns the offset of the next byte in the file.
func (b *bitReader) offset() int64 { return b.base + int64(b.at) - int64(max(0, b.left/8)) }

// more reads until the buffer has 16 bytes, more than any lookahead.
func (b *bitReader) more() {
	copy(b.buffer[:], b.buffer[b.at:b.end])
	b.base, b.end, b.at = b.base+int64(b.at), b.end-b.at, 0
	for b.end < 16 && !b.ended {
		n, err := b.r.Read(b.buffer[b.end:])
		b.end += n
		if b.ended = err != nil; b.ended && err != io.EOF {
			b.failed = err
		}
	}
}

// next reads a byte.
func (b *bitReader) next() (byte, error) {
	if b.at == b.end {
		if b.more(); b.end == 0 {
			return 0, errCut
		}
	}
	b.at++
	return b.buffer[b.at-1], nil
}

// number reads a two-byte number.
func (b *bitReader) number() (int, error) {
	var n [2]byte
	err := b.read(n[:])
	return int(binary.BigEndian.Uint16(n[:])), err
}

func (b *bitReader) read(to []byte) error {
	for i := range to {
		var err error
		if to[i], err = b.next(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bitReader) skip(n int) error {
	for n > 0 {
		if b.at == b.end {
			if b.more(); b.end == 0 {
				return errCut
			}
		}
		step := min(n, b.end-b.at)
		b.at, n = b.at+step, n-step
	}
	return nil
}

// fill adds bytes until there are more than 56 bits, or a marker follows.
func (b *bitReader) fill() {
	if b.end-b.at < 16 && !b.ended {
		b.more()
	}
	if b.left < 0 {
		return
	}
	if b.end-b.at >= 8 {
		more := binary.BigEndian.Uint64(b.buffer[b.at:])
		if (^more-0x0101010101010101)&more&0x8080808080808080 == 0 { // no byte is 0xFF
			whole := uint(64-b.left) &^ 7
			b.word |= more >> (64 - whole) << (64 - uint(b.left) - whole)
			b.at, b.left = b.at+int(whole/8), b.left+int(whole)
			return
		}
	}
	for b.left <= 56 && b.at < b.end {
		next := b.buffer[b.at]
		if next == 0xFF {
			if b.at+1 >= b.end || b.buffer[b.at+1] != 0 {
				return
			}
			b.at++
		}
		b.at++
		b.word |= uint64(next) << (56 - uint(b.left))
		b.left += 8
	}
}

// take returns the next n bits, 16 at most.
func (b *bitReader) take(n int) int {
	if b.left < n {
		b.fill()
	}
	v := int(b.word >> (64 - uint(n)))
	b.word <<= uint(n)
	b.left -= n
	return v
}

// maxPadding is how many zero bytes some cameras write after the data of a scan.
const maxPadding = 3

// close ends entropy-coded data and returns how many bytes remain before the marker, not counting
// padding zeros.
func (b *bitReader) close() (over int) {
	b.word <<= uint(b.left & 7)
	b.left &^= 7
	zeros := true
	for more := true; more; more = b.left > 0 {
		for ; b.left > 0; b.left -= 8 {
			zeros = zeros && b.word>>56 == 0
			b.word <<= 8
			over++
		}
		b.fill()
	}
	if zeros && over <= maxPadding {
		return 0
	}
	return over
}
