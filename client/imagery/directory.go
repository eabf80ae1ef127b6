package imagery

import (
	"encoding/binary"
	"io"
	"math"
	"strings"
)

// tiffReader reads the directories of a TIFF structure: of a TIFF file, or of
// an EXIF record, which is one as well. Cameras write odd entries, so one that
// cannot be understood is passed over and the rest still counts.
type tiffReader struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
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

// Limits far above what real files hold; they bound memory on broken ones.
const (
	maxEntries = 4096
	maxValues  = 1 << 20
	maxText    = 4096
)

// kindSizes are the bytes of one value of each TIFF type.
var kindSizes = [...]int64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4}

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
	return t, int64(t.order.Uint32(head[4:])), true
}

// directory reads the directory at offset; ok is false when it is not all
// there.
func (t tiffReader) directory(offset int64) (d directory, ok bool) {
	var count [2]byte
	if n, _ := t.r.ReadAt(count[:], offset); n < len(count) {
		return d, false
	}
	number := min(int(t.order.Uint16(count[:])), maxEntries)
	raw := make([]byte, number*12+4)
	n, _ := t.r.ReadAt(raw, offset+2)
	if n < number*12 {
		return d, false
	}
	d.entries = make(map[uint16]entry, number)
	for i := range number {
		field := raw[i*12:]
		tag, kind := t.order.Uint16(field), t.order.Uint16(field[2:])
		if kind == 0 || int(kind) >= len(kindSizes) {
			continue
		}
		e := entry{kind: kind, count: int64(t.order.Uint32(field[4:])), offset: offset + 2 + int64(i*12) + 8}
		if e.length() > 4 {
			e.offset = int64(t.order.Uint32(field[8:]))
		}
		if _, repeated := d.entries[tag]; !repeated {
			d.entries[tag] = e
		}
	}
	if n == len(raw) {
		d.next = int64(t.order.Uint32(raw[number*12:]))
	}
	return d, true
}

func (e entry) length() int64 { return e.count * kindSizes[e.kind] }

// inside tells whether the value of e lies within the structure.
func (t tiffReader) inside(e entry) bool {
	return e.offset >= 0 && e.offset+e.length() <= t.size
}

// bytes returns the value as stored, nil when it is missing or absurdly long.
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

// text returns a text value without padding, "" when there is none.
func (t tiffReader) text(d directory, tag uint16) string {
	if d.entries[tag].count > maxText {
		return ""
	}
	b := t.bytes(d, tag)
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(strings.ToValidUTF8(s, ""))
}

// number returns a value that is a single number.
func (t tiffReader) number(d directory, tag uint16) (float64, bool) {
	if n := t.numbers(d, tag); len(n) > 0 && !notFinite(n[0]) {
		return n[0], true
	}
	return 0, false
}

// integers returns the whole numbers of a value.
func (t tiffReader) integers(d directory, tag uint16) []int64 {
	b := t.bytes(d, tag)
	var values []int64
	switch d.entries[tag].kind {
	case 3:
		for ; len(b) >= 2; b = b[2:] {
			values = append(values, int64(t.order.Uint16(b)))
		}
	case 4, 13:
		for ; len(b) >= 4; b = b[4:] {
			values = append(values, int64(t.order.Uint32(b)))
		}
	}
	return values
}

// numbers returns the values of any numeric type; a fraction over 0 is NaN.
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
