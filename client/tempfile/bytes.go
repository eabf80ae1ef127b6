// Package tempfile keeps large lists in temporary files instead of memory.
package tempfile

import (
	"os"
	"runtime"
)

// Bytes keeps bytes in a temporary file once they are many, so that a survey
// of any size takes little memory. Where no file can be written they stay in
// memory: no work is to fail for that. The zero value is ready for use.
type Bytes struct {
	Dir    string // of the file; the system's when empty
	file   *os.File
	length int64  // bytes in the file
	tail   []byte // what follows them
	memory bool   // no file can be written
}

const most = 512 << 10 // bytes in memory before they go to the file

// Add takes bytes in and says where they are.
func (s *Bytes) Add(b []byte) int64 {
	at := s.length + int64(len(s.tail))
	if len(s.tail)+len(b) > most && !s.memory {
		s.flush()
	}
	if s.tail == nil && at > 0 {
		s.tail = make([]byte, 0, most)
	}
	s.tail = append(s.tail, b...)
	return at
}

func (s *Bytes) flush() {
	var err error
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.Dir, "transect-*"); err != nil {
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
	if cap(s.tail) < most {
		s.tail = nil
	}
}

// Read fills b with what is there, as far as it goes. Several may read at once
// when nobody adds.
func (s *Bytes) Read(b []byte, at int64) (n int, err error) {
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

// Close removes the file.
func (s *Bytes) Close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close() // it is of no use any more
	if runtime.GOOS == "windows" {
		_ = os.Remove(s.file.Name())
	}
	s.file = nil
}
