package preflight

import (
	"os"
	"runtime"
	"unsafe"
)

// spool keeps bytes in a temporary file once they are many, so that a survey
// of any size takes little memory. Where no file can be written they stay in
// memory: a check is not to fail for that.
type spool struct {
	dir    string
	file   *os.File
	length int64  // bytes in the file
	tail   []byte // what follows them
	memory bool   // no file can be written
}

const spoolTail = 512 << 10

// add takes bytes in and says where they are.
func (s *spool) add(b []byte) int64 {
	at := s.length + int64(len(s.tail))
	if len(s.tail)+len(b) > spoolTail && !s.memory {
		s.flush()
	}
	if s.tail == nil && at > 0 {
		s.tail = make([]byte, 0, spoolTail)
	}
	s.tail = append(s.tail, b...)
	return at
}

func (s *spool) flush() {
	var err error
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, "transect-check-*"); err != nil {
			s.memory = true
			return
		}
		if runtime.GOOS != "windows" {
			_ = os.Remove(s.file.Name()) // nobody else needs its name
		}
	}
	if _, err = s.file.WriteAt(s.tail, s.length); err != nil {
		s.memory = true // the disk is full: what was written half stays in tail
		return
	}
	s.length += int64(len(s.tail))
	s.tail = s.tail[:0]
	if cap(s.tail) < spoolTail {
		s.tail = nil
	}
}

// read fills b with what is there, as far as it goes.
func (s *spool) read(b []byte, at int64) (n int, err error) {
	if at < s.length {
		n, err = s.file.ReadAt(b[:min(int64(len(b)), s.length-at)], at)
		if err != nil {
			return n, err
		}
	}
	if rest := at + int64(n) - s.length; n < len(b) && rest >= 0 && rest < int64(len(s.tail)) {
		n += copy(b[n:], s.tail[rest:])
	}
	return n, nil
}

func (s *spool) close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close() // it is of no use any more
	if runtime.GOOS == "windows" {
		_ = os.Remove(s.file.Name())
	}
	s.file = nil
}

// column is a list of records of one size, without pointers in them.
type column[T any] struct {
	spool
	n     int
	block []T // of records, from first on
	first int
}

const columnBlock = 256

func asBytes[T any](list []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(*new(T))))
}

func (c *column[T]) add(record T) {
	c.spool.add(asBytes([]T{record}))
	c.n++
	c.block = c.block[:0]
}

// at gives a record. Records near each other come from one reading.
func (c *column[T]) at(i int) T {
	if i < c.first || i >= c.first+len(c.block) {
		c.first = i / columnBlock * columnBlock
		if cap(c.block) == 0 {
			c.block = make([]T, columnBlock)
		}
		c.block = c.block[:columnBlock]
		size := int(unsafe.Sizeof(*new(T)))
		n, err := c.read(asBytes(c.block), int64(c.first)*int64(size))
		c.block = c.block[:n/size]
		if err != nil || i >= c.first+len(c.block) {
			return *new(T) // a temporary file that is taken away; nothing good comes of it
		}
	}
	return c.block[i-c.first]
}

// all goes through the records in order.
func (c *column[T]) all(yield func(int, T) bool) {
	for i := range c.n {
		if !yield(i, c.at(i)) {
			return
		}
	}
}
