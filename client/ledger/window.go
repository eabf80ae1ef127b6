package ledger

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// window reads a file record by record.
type window struct {
	in   *bufio.Reader
	left int64
	buf  []byte
	skim bool // see reader

	head    [frame]byte
	content reader
	intent  Intent // of the last record, when it is skimmed
	result  Result
}

// errTorn means that a file was truncated by a crash.
var errTorn = errors.New("the end was cut off")

func newWindow(file io.ReaderAt, at, size int64, buffer int) *window {
	return &window{in: bufio.NewReaderSize(io.NewSectionReader(file, at, size-at), buffer), left: size - at}
}

var errDamaged = errors.New("a record is damaged")

// record reads the next record and returns its length in the file.
func (w *window) record() (record, int64, error) {
	head := &w.head
	if w.left < frame {
		return nil, 0, errTorn
	}
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return nil, 0, err
	}
	length := int64(binary.LittleEndian.Uint32(head[:]))
	w.left -= frame
	switch {
	case *head == [frame]byte{}:
		return nil, 0, w.zeros()
	case crc32.Checksum(head[:4], castagnoli()) != binary.LittleEndian.Uint32(head[4:]), length == 0:
		return nil, 0, errDamaged
	case length > w.left:
		return nil, 0, errTorn
	}
	if int64(cap(w.buf)) < length {
		w.buf = make([]byte, length)
	}
	b := w.buf[:length]
	if _, err := io.ReadFull(w.in, b); err != nil {
		return nil, 0, err
	}
	w.left -= length
	if crc32.Checksum(b, castagnoli()) != binary.LittleEndian.Uint32(head[8:]) {
		if w.left == 0 {
			return nil, 0, errTorn
		}
		return nil, 0, errDamaged
	}
	var r record
	skim := w.skim
	switch {
	case skim && b[0] == 'I':
		w.intent = Intent{}
		r = &w.intent
	case skim && b[0] == 'R':
		w.result = Result{}
		r = &w.result
	default:
		r, skim = blank(b[0]), false
	}
	if r == nil {
		return nil, 0, errors.New("it was written by a newer version of transect")
	}
	w.content = reader{b: b[1:], skim: skim}
	r.decode(&w.content)
	return r, frame + length, w.content.err
}

// zeros returns errTorn if only zero bytes are left, as some file systems leave them after a power loss.
func (w *window) zeros() error {
	for {
		switch b, err := w.in.ReadByte(); {
		case err == io.EOF:
			return errTorn
		case err != nil:
			return err
		case b != 0:
			return errDamaged
		}
	}
}
