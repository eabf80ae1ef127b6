package tempfile

import (
	"io"
	"unsafe"
)

// Column is a list of records of one size, without pointers in them.
type Column[T any] struct {
	Bytes
	n     int
	block []T // of records, from first on
	first int
}

const columnBlock = 256

func asBytes[T any](list []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(*new(T))))
}

// Add puts a record at the end.
func (c *Column[T]) Add(record T) {
	c.Bytes.Add(asBytes([]T{record}))
	c.n++
	c.block = c.block[:0]
}

// At gives a record, by one goroutine at a time. Records near each other come from one reading.
func (c *Column[T]) At(i int) T {
	if i < c.first || i >= c.first+len(c.block) {
		c.first = i / columnBlock * columnBlock
		if cap(c.block) == 0 {
			c.block = make([]T, columnBlock)
		}
		c.block = c.block[:columnBlock]
		size := int(unsafe.Sizeof(*new(T)))
		n, err := c.Read(asBytes(c.block), int64(c.first)*int64(size))
		c.block = c.block[:n/size]
		if err != nil || i >= c.first+len(c.block) {
			return *new(T) // a temporary file that is taken away; nothing good comes of it
		}
	}
	return c.block[i-c.first]
}

// Get gives a record. Several may ask at once when nobody adds; each asks the
// file, or the memory, anew.
func (c *Column[T]) Get(i int) (record T, err error) {
	b := asBytes(unsafe.Slice(&record, 1))
	n, err := c.Read(b, int64(i)*int64(len(b)))
	if err == nil && n < len(b) {
		err = io.ErrUnexpectedEOF
	}
	return record, err
}

// Len is how many records there are.
func (c *Column[T]) Len() int { return c.n }

// All goes through the records in order.
func (c *Column[T]) All(yield func(int, T) bool) {
	for i := range c.n {
		if !yield(i, c.At(i)) {
			return
		}
	}
}
