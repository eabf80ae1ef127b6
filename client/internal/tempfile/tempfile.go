// Package tempfile keeps large lists in temporary files instead of memory: a survey of a million
// images then takes a few megabytes.
//
// Bytes is an append-only buffer that moves to a file once it is large, Column a list of records of
// one size in it, and Records a list of records of any size. If no file can be written they stay in
// memory, because no work should fail for that. client/ingest stores the datasets on the platform
// in one, client/preflight its records of each file.
package tempfile

import (
	"encoding/binary"
	"io"
	"os"
	"runtime"
	"unsafe"
)

// Bytes is an append-only buffer. The zero value is ready for use.
type Bytes struct {
	Dir      string // of the file; the system's when empty
	file     *os.File
	length   int64  // bytes in the file
	tail     []byte // bytes after them
	inMemory bool   // a file cannot be written
}

const maxInMemory = 512 << 10 // bytes

// Add appends b and returns its offset.
func (s *Bytes) Add(b []byte) int64 {
	offset := s.length + int64(len(s.tail))
	if len(s.tail)+len(b) > maxInMemory && !s.inMemory {
		s.flush()
	}
	if s.tail == nil && offset > 0 {
		s.tail = make([]byte, 0, maxInMemory)
	}
	s.tail = append(s.tail, b...)
	return offset
}

func (s *Bytes) flush() {
	var err error
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.Dir, "transect-*"); err != nil {
			s.inMemory = true
			return
		}
		if runtime.GOOS != "windows" {
			_ = os.Remove(s.file.Name()) // the open file stays usable until the process ends
		}
	}
	if _, err = s.file.WriteAt(s.tail, s.length); err != nil {
		s.inMemory = true // disk full; tail still has all bytes
		return
	}
	s.length += int64(len(s.tail))
	s.tail = s.tail[:0]
	if cap(s.tail) < maxInMemory {
		s.tail = nil
	}
}

// Read fills b from offset on, as far as there are bytes. Concurrent reads are safe as long as
// nothing is added.
func (s *Bytes) Read(b []byte, offset int64) (n int, err error) {
	if offset < s.length {
		n, err = s.file.ReadAt(b[:min(int64(len(b)), s.length-offset)], offset)
		if err != nil {
			return n, err
		}
	}
	if next := offset + int64(n) - s.length; n < len(b) && next >= 0 && next < int64(len(s.tail)) {
		n += copy(b[n:], s.tail[next:])
	}
	return n, nil
}

// Close removes the file.
func (s *Bytes) Close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close() // no longer needed
	if runtime.GOOS == "windows" {
		_ = os.Remove(s.file.Name())
	}
	s.file = nil
}

// Records is a list of records of up to 4 GiB each, addressed by their offsets.
type Records struct{ Bytes }

const recordHead = 4 // bytes of a record's length

// Add appends a record and returns its offset.
func (r *Records) Add(record []byte) int64 {
	b := make([]byte, 0, 512)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(record)))
	return r.Bytes.Add(append(b, record...))
}

// Get returns the record at an offset. Concurrent calls are safe as long as nothing is added.
func (r *Records) Get(offset int64) ([]byte, error) {
	b := make([]byte, 512) // sufficient for most
	n, err := r.Read(b, offset)
	if err != nil {
		return nil, err
	}
	if n < recordHead {
		return nil, io.ErrUnexpectedEOF
	}
	length := int(binary.LittleEndian.Uint32(b))
	if recordHead+length <= n {
		return b[recordHead : recordHead+length], nil
	}
	b = make([]byte, length)
	if n, err = r.Read(b, offset+recordHead); err == nil && n < length {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// Column is a list of records of one size, without pointers.
type Column[T any] struct {
	Bytes
	n     int
	block []T // the last records read, from first on
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

// At returns record i, for one goroutine at a time. It reads ahead. An unreadable record is zero.
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

// Len returns the number of records.
func (c *Column[T]) Len() int { return c.n }

// All iterates over the records in order.
func (c *Column[T]) All(yield func(int, T) bool) {
	for i := range c.n {
		if !yield(i, c.At(i)) {
			return
		}
	}
}
