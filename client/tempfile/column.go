package tempfile

import (
	"unsafe"
)

// Column is a list of records of one size, without pointers in them.
type Column[T any] struct {
	Bytes
	n     int
	block []T // the records read last, from first on
	first int
}

const columnBlock = 256 // records

func asBytes[T any](list []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(*new(T))))
}

// Add appends a record.
func (c *Column[T]) Add(record T) {
	c.Bytes.Add(asBytes([]T{record}))
	c.n++
	c.block = c.block[:0]
}

// At returns record i, for one goroutine at a time. It reads ahead. A record
// that cannot be read back is zero.
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
			return *new(T)
		}
	}
	return c.block[i-c.first]
}

// Len is the number of records.
func (c *Column[T]) Len() int { return c.n }

// All iterates over the records in order.
func (c *Column[T]) All(yield func(int, T) bool) {
	for i := range c.n {
		if !yield(i, c.At(i)) {
			return
		}
	}
}
