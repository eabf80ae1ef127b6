package imagery

import (
	"encoding/binary"
	"io"
	"math"
	"strings"
)

// tiffReader reads the directories of a TIFF structure: a TIFF file or an EXIF
// record. Cameras write invalid entries; those are skipped.
type tiffReader struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
	big   bool // BigTIFF: offsets and counts have 64 bits
}

// directory is one image file directory (IFD).
type directory struct {
	entries map[uint16]entry
	next    int64 // offset of the next directory, 0 for none
}

// entry is one field of a directory.
type entry struct {
	kind   uint16
	count  int64
	offset int64 // of the value
}

// Limits far above those of real files; they bound the memory for damaged ones.
const (
	maxEntries = 4096
	maxValues  = 1 << 20
	maxText    = 4096
	maxLength  = 1 << 55 // 8 times it plus another one does not overflow
)

// kindSizes are the sizes of one value of each TIFF type.
var kindSizes = [...]int64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8}

// newTIFFReader reads the header and returns the offset of the first directory.
func newTIFFReader(r io.ReaderAt, size int64) (t tiffReader, first int64, ok bool) {
	head := make([]byte, 8)
	if n, _ := r.ReadAt(head, 0); n < len(head) {
		return t, 0, false
	}
	t = tiffReader{r: r, size: size}
	switch string(head[:2]) {
	case "II":
		t.order = binary.LittleEndian
	case "MM":
		t.order = binary.BigEndian
	default:
		return t, 0, false
	}
	if t.order.Uint16(head[2:]) != 43 {
		return t, int64(t.order.Uint32(head[4:])), true
	}
	t.big = true
	if n, _ := r.ReadAt(head, 8); n < len(head) {
		return t, 0, false
	}
	return t, t.word(head), true
}

// directory reads the directory at offset; ok is false when it is truncated.
func (t tiffReader) directory(offset int64) (d directory, ok bool) {
	// A field is tag, type, count and value, or the offset of a longer value.
	countSize, fieldSize, wordSize := int64(2), 12, 4
	if t.big {
		countSize, fieldSize, wordSize = 8, 20, 8
	}
	var count [8]byte
	if n, _ := t.r.ReadAt(count[:countSize], offset); int64(n) < countSize {
		return d, false
	}
	number := int(t.order.Uint16(count[:]))
	if t.big {
		number = int(min(t.order.Uint64(count[:]), maxEntries))
	}
	number = min(number, maxEntries)
	raw := make([]byte, number*fieldSize+wordSize)
	n, _ := t.r.ReadAt(raw, offset+countSize)
	if n < number*fieldSize {
		return d, false
	}
	d.entries = make(map[uint16]entry, number)
	for i := range number {
		field := raw[i*fieldSize:]
		tag, kind := t.order.Uint16(field), t.order.Uint16(field[2:])
		if kind == 0 || int(kind) >= len(kindSizes) || kindSizes[kind] == 0 {
			continue
		}
		e := entry{kind: kind, count: t.word(field[4:])}
		e.offset = offset + countSize + int64(i*fieldSize+4+wordSize)
		if e.count > maxLength {
			e.count = maxLength // beyond any file, whatever the type
		}
		if e.length() > int64(wordSize) {
			e.offset = t.word(field[4+wordSize:])
		}
		if _, repeated := d.entries[tag]; !repeated {
			d.entries[tag] = e
		}
	}
	if n == len(raw) {
		d.next = t.word(raw[number*fieldSize:])
	}
	return d, true
}

// word reads a count or an offset, at most maxLength.
func (t tiffReader) word(b []byte) int64 {
	if !t.big {
		return int64(t.order.Uint32(b))
	}
	return int64(min(t.order.Uint64(b), maxLength))
}

func (e entry) length() int64 { return e.count * kindSizes[e.kind] }

// inside reports whether the value of e is within the structure.
func (t tiffReader) inside(e entry) bool {
	return e.offset >= 0 && e.offset+e.length() <= t.size
}

// bytes returns the value as stored, nil when it is missing or too long.
func (t tiffReader) bytes(d directory, tag uint16) []byte {
	e, ok := d.entries[tag]
	if !ok || e.count == 0 || e.count > maxValues || !t.inside(e) {
		return nil
	}
	b := make([]byte, e.length())
	if n, _ := t.r.ReadAt(b, e.offset); n < len(b) {
		return nil
	}
	return b
}

// text returns a text value without padding, or "".
func (t tiffReader) text(d directory, tag uint16) string {
	if d.entries[tag].count > maxText {
		return ""
	}
	b := t.bytes(d, tag)
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(strings.ToValidUTF8(s, ""))
}

// number returns the first number of a value.
func (t tiffReader) number(d directory, tag uint16) (float64, bool) {
	if n := t.numbers(d, tag); len(n) > 0 && !notFinite(n[0]) {
		return n[0], true
	}
	return 0, false
}

// integers returns the unsigned integers of a value, maxLength at most; above
// 2^53 they are rounded.
func (t tiffReader) integers(d directory, tag uint16) (values []int64) {
	switch d.entries[tag].kind {
	case 3, 4, 13, 16, 18:
		for _, v := range t.numbers(d, tag) {
			values = append(values, int64(min(v, maxLength)))
		}
	}
	return values
}

// numbers returns the numbers of a value of any numeric type; a fraction over 0 is NaN.
func (t tiffReader) numbers(d directory, tag uint16) []float64 {
	e := d.entries[tag]
	b := t.bytes(d, tag)
	size := int(kindSizes[e.kind])
	var values []float64
	for ; len(b) >= max(size, 1); b = b[size:] {
		values = append(values, t.decode(e.kind, b))
	}
	return values
}

func (t tiffReader) decode(kind uint16, b []byte) float64 {
	switch kind {
	case 1:
		return float64(b[0])
	case 3:
		return float64(t.order.Uint16(b))
	case 4, 13:
		return float64(t.order.Uint32(b))
	case 5:
		return ratio(float64(t.order.Uint32(b)), float64(t.order.Uint32(b[4:])))
	case 6:
		return float64(int8(b[0]))
	case 8:
		return float64(int16(t.order.Uint16(b)))
	case 9:
		return float64(int32(t.order.Uint32(b)))
	case 10:
		return ratio(float64(int32(t.order.Uint32(b))), float64(int32(t.order.Uint32(b[4:]))))
	case 11:
		return float64(math.Float32frombits(t.order.Uint32(b)))
	case 12:
		return math.Float64frombits(t.order.Uint64(b))
	case 16, 18:
		return float64(t.order.Uint64(b))
	case 17:
		return float64(int64(t.order.Uint64(b)))
	}
	return math.NaN()
}

func ratio(numerator, denominator float64) float64 {
	if denominator == 0 {
		return math.NaN()
	}
	return numerator / denominator
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
