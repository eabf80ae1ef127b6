package ledger

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"time"
)

// header begins a ledger and names its version.
const header = "transect ledger 1\n"

// State is the known state of a write.
type State byte

// The states of a write.
const (
	Open    State = iota // noted, not known to be done: it may have been
	Done                 // answered
	Adopted              // found on the platform after its answer was lost
	Refused              // certainly not done; it may be sent again
	Doubled              // sent again, and the first request arrived later
	Partial              // some of its steps were done, then one was refused; it continues there
)

var stateNames = [...]string{"open", "done", "adopted", "refused", "doubled", "partial"}

func (s State) String() string { return stateNames[s] }

// record is an entry of the file.
type record interface {
	kind() byte
	encode(b []byte) []byte
	decode(r *reader)
}

type (
	startRecord struct{ Start }
	endRecord   struct{}
	keptRecord  struct {
		Name  string
		Value []byte
	}
)

// Intent is a write about to be sent. An intent with the Seq of an earlier one is a repetition.
type Intent struct {
	Seq    uint32 // numbers the writes of the run, from 1
	Parent uint32 // Seq of the composed operation it is a step of, or 0
	Op     string
	Print  Fingerprint
	Task   uint64    // the task of the run that sent it
	Since  time.Time // by the platform's clock; its results are not older
	Start  uint32    // number of the start that sent it, from 1
}

// Result is the outcome of a write.
type Result struct {
	Seq     uint32
	State   State
	IDs     []string // of everything it made or changed
	Answers [][]byte // of its requests, unchanged; nil when not stored
}

func (*startRecord) kind() byte { return 'S' }
func (*endRecord) kind() byte   { return 'E' }
func (*keptRecord) kind() byte  { return 'K' }
func (*Intent) kind() byte      { return 'I' }
func (*Result) kind() byte      { return 'R' }

func blank(kind byte) record {
	switch kind {
	case 'S':
		return &startRecord{}
	case 'E':
		return &endRecord{}
	case 'K':
		return &keptRecord{}
	case 'I':
		return &Intent{}
	case 'R':
		return &Result{}
	}
	return nil
}

func (r *startRecord) encode(b []byte) []byte {
	text, _ := json.Marshal(r.Start) // cannot fail: texts and numbers
	return append(b, text...)
}

func (r *startRecord) decode(in *reader) { in.fail(json.Unmarshal(in.rest(), &r.Start)) }

func (r *endRecord) encode(b []byte) []byte { return b }
func (r *endRecord) decode(*reader)         {}

func (r *keptRecord) encode(b []byte) []byte { return append(appendText(b, r.Name), r.Value...) }

func (r *keptRecord) decode(in *reader) {
	r.Name, r.Value = in.text(), bytes.Clone(in.rest())
}

func (r *Intent) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(r.Seq))
	b = binary.AppendUvarint(b, uint64(r.Parent))
	b = binary.AppendUvarint(b, uint64(r.Start))
	b = appendText(b, r.Op)
	b = append(b, r.Print[:]...)
	b = binary.LittleEndian.AppendUint64(b, r.Task)
	return binary.AppendVarint(b, r.Since.UnixMilli())
}

func (r *Intent) decode(in *reader) {
	r.Seq, r.Parent, r.Start = in.number(), in.number(), in.number()
	r.Op = in.text()
	copy(r.Print[:], in.take(len(r.Print)))
	if b := in.take(8); in.err == nil {
		r.Task = binary.LittleEndian.Uint64(b)
	}
	r.Since = time.UnixMilli(in.signed())
}

func (r *Result) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(r.Seq))
	b = append(b, byte(r.State))
	b = binary.AppendUvarint(b, uint64(len(r.IDs)))
	for _, id := range r.IDs {
		b = appendText(b, id)
	}
	for _, answer := range r.Answers {
		b = appendText(b, string(answer))
	}
	return b
}

func (r *Result) decode(in *reader) {
	r.Seq = in.number()
	if b := in.take(1); in.err == nil {
		if r.State = State(b[0]); int(r.State) >= len(stateNames) {
			in.fail(fmt.Errorf("a write is in the unknown state %d", b[0]))
		}
	}
	if in.skim {
		return
	}
	for n := in.number(); n > 0 && in.err == nil; n-- {
		r.IDs = append(r.IDs, in.text())
	}
	for in.err == nil && len(in.b) > 0 {
		r.Answers = append(r.Answers, []byte(in.text()))
	}
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// reader decodes values from the front of a record.
type reader struct {
	b    []byte
	err  error
	skim bool // skip texts and answers: a million records are read at the start
}

var errShort = errors.New("a record is shorter than its content")

func (r *reader) fail(err error) {
	if r.err == nil && err != nil {
		r.err = err
	}
}

func (r *reader) number() uint32 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > 1<<32-1 {
		r.fail(errShort)
		return 0
	}
	r.b = r.b[n:]
	return uint32(v)
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.fail(errShort)
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) text() string {
	b := r.take(int(r.number()))
	if r.skim {
		return ""
	}
	return string(b)
}

func (r *reader) rest() []byte {
	b := r.b
	r.b = nil
	return b
}

// A record in the file: its length, a checksum of the length, a checksum of the content, 4 bytes each; then
// its kind and content. A wrong length is damage; one that points past the end is a truncated end.
const frame = 12

// castagnoli is built on first use, to keep starts fast.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func encode(r record) []byte {
	b := r.encode(append(make([]byte, frame, frame+256), r.kind()))
	binary.LittleEndian.PutUint32(b, uint32(len(b)-frame))
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[:4], castagnoli()))
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b[frame:], castagnoli()))
	return b
}

// scan calls each with the records of a file and their offsets. It returns where the last whole one ends: a
// crash may have truncated the end. Anything else that does not fit is damage, and an error.
func scan(file io.ReaderAt, size int64, each func(at int64, r record) error) (int64, error) {
	first := make([]byte, len(header))
	if _, err := file.ReadAt(first, 0); err != nil {
		return 0, err
	}
	if string(first) != header {
		return 0, errors.New("it was written by another version of transect, or is not a ledger")
	}
	at := int64(len(header))
	in := newWindow(file, at, size, 1<<20)
	in.skim = true
	for at < size {
		r, n, err := in.record()
		switch {
		case errors.Is(err, errTorn):
			return at, nil
		case err == nil:
			err = each(at, r)
		}
		if err != nil {
			return at, fmt.Errorf("byte %d: %w", at, err)
		}
		at += n
	}
	return at, nil
}
