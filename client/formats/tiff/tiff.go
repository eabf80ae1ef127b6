// Package tiff reads the directories of TIFF and BigTIFF structures: TIFF files, GeoTIFF rasters, EXIF
// records. Memory is bounded whatever a file contains; package raster reads the pixels.
package tiff

import (
	"encoding/binary"
	"io"
	"math"
	"strings"
)

// Reader reads directories. It skips invalid entries, which cameras write.
type Reader struct {
	R     io.ReaderAt
	Size  int64
	Order binary.ByteOrder
	big   bool // BigTIFF: offsets and counts have 64 bits
}

// Directory is one image file directory (IFD).
type Directory struct {
	Entries map[uint16]Entry
	Next    int64 // offset of the next directory, 0 for none
}

// Entry is one field of a directory.
type Entry struct {
	Kind   uint16
	Count  int64
	Offset int64 // of the value
}

// Limits far above real files, to bound the memory for damaged ones.
const (
	maxEntries = 4096
	maxValues  = 1 << 20
	maxText    = 4096
	MaxLength  = 1 << 55 // 8 times this plus another one does not overflow
)

// kindSizes are the sizes of one value of each TIFF type.
var kindSizes = [...]int64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8}

// NewReader reads the header and returns the offset of the first directory.
func NewReader(r io.ReaderAt, size int64) (t Reader, first int64, ok bool) {
	head := make([]byte, 8)
	if n, _ := r.ReadAt(head, 0); n < len(head) {
		return t, 0, false
	}
	t = Reader{R: r, Size: size}
	switch string(head[:2]) {
	case "II":
		t.Order = binary.LittleEndian
	case "MM":
		t.Order = binary.BigEndian
	default:
		return t, 0, false
	}
	if t.Order.Uint16(head[2:]) != 43 {
		return t, int64(t.Order.Uint32(head[4:])), true
	}
	t.big = true
	if n, _ := r.ReadAt(head, 8); n < len(head) {
		return t, 0, false
	}
	return t, t.word(head), true
}

// Directory reads the directory at offset; ok is false when it is truncated.
func (t Reader) Directory(offset int64) (d Directory, ok bool) {
	// A field is tag, type, count and value, or the offset of a longer value.
	countSize, fieldSize, wordSize := int64(2), 12, 4
	if t.big {
		countSize, fieldSize, wordSize = 8, 20, 8
	}
	var count [8]byte
	if n, _ := t.R.ReadAt(count[:countSize], offset); int64(n) < countSize {
		return d, false
	}
	number := int(t.Order.Uint16(count[:]))
	if t.big {
		number = int(min(t.Order.Uint64(count[:]), maxEntries))
	}
	number = min(number, maxEntries)
	raw := make([]byte, number*fieldSize+wordSize)
	n, _ := t.R.ReadAt(raw, offset+countSize)
	if n < number*fieldSize {
		return d, false
	}
	d.Entries = make(map[uint16]Entry, number)
	for i := range number {
		field := raw[i*fieldSize:]
		tag, kind := t.Order.Uint16(field), t.Order.Uint16(field[2:])
		if kind == 0 || int(kind) >= len(kindSizes) || kindSizes[kind] == 0 {
			continue
		}
		e := Entry{Kind: kind, Count: t.word(field[4:])}
		e.Offset = offset + countSize + int64(i*fieldSize+4+wordSize)
		if e.Count > MaxLength {
			e.Count = MaxLength // beyond any file, whatever the type
		}
		if e.Length() > int64(wordSize) {
			e.Offset = t.word(field[4+wordSize:])
		}
		if _, repeated := d.Entries[tag]; !repeated {
			d.Entries[tag] = e
		}
	}
	if n == len(raw) {
		d.Next = t.word(raw[number*fieldSize:])
	}
	return d, true
}

// Directories visits the directories from an offset on, including subdirectories, each once and at most
// limit of them; ok is false for a truncated one. An error of visit ends it.
func (t Reader) Directories(first int64, limit int, visit func(offset int64, d Directory, ok bool) error) error {
	seen := map[int64]bool{0: true}
	for pending := []int64{first}; len(pending) > 0 && len(seen) <= limit; pending = pending[1:] {
		offset := pending[0]
		if seen[offset] {
			continue
		}
		seen[offset] = true
		d, ok := t.Directory(offset)
		if err := visit(offset, d, ok); err != nil {
			return err
		}
		below := t.Integers(d, SubIFDs)
		pending = append(append(pending, below[:min(len(below), limit)]...), d.Next)
	}
	return nil
}

// word reads a count or an offset, at most MaxLength.
func (t Reader) word(b []byte) int64 {
	if !t.big {
		return int64(t.Order.Uint32(b))
	}
	return int64(min(t.Order.Uint64(b), MaxLength))
}

// Length returns the length of the value in bytes.
func (e Entry) Length() int64 { return e.Count * kindSizes[e.Kind] }

// Inside reports whether the value of e is within the structure.
func (t Reader) Inside(e Entry) bool {
	return e.Offset >= 0 && e.Offset+e.Length() <= t.Size
}

// Bytes returns the stored value, nil when it is missing or too long.
func (t Reader) Bytes(d Directory, tag uint16) []byte {
	e, ok := d.Entries[tag]
	if !ok || e.Count == 0 || e.Count > maxValues || !t.Inside(e) {
		return nil
	}
	b := make([]byte, e.Length())
	if n, _ := t.R.ReadAt(b, e.Offset); n < len(b) {
		return nil
	}
	return b
}

// Text returns a text value without padding, or "".
func (t Reader) Text(d Directory, tag uint16) string {
	if d.Entries[tag].Count > maxText {
		return ""
	}
	b := t.Bytes(d, tag)
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(strings.ToValidUTF8(s, ""))
}

// Number returns the first number of a value.
func (t Reader) Number(d Directory, tag uint16) (float64, bool) {
	if n := t.Numbers(d, tag); len(n) > 0 && !NotFinite(n[0]) {
		return n[0], true
	}
	return 0, false
}

// Integers returns the unsigned integers of a value, at most MaxLength; above 2^53 they are rounded.
func (t Reader) Integers(d Directory, tag uint16) (values []int64) {
	switch d.Entries[tag].Kind {
	case 3, 4, 13, 16, 18:
		for _, v := range t.Numbers(d, tag) {
			values = append(values, int64(min(v, MaxLength)))
		}
	}
	return values
}

// Numbers returns the numbers of a value of any numeric type; a fraction over 0 is NaN.
func (t Reader) Numbers(d Directory, tag uint16) []float64 {
	e := d.Entries[tag]
	b := t.Bytes(d, tag)
	size := int(kindSizes[e.Kind])
	var values []float64
	for ; len(b) >= max(size, 1); b = b[size:] {
		values = append(values, t.decode(e.Kind, b))
	}
	return values
}

// At returns the unsigned integer at index i of a value; ok is false without one. It serves to read
// long lists of offsets one at a time.
func (t Reader) At(e Entry, i int64) (v int64, ok bool) {
	switch e.Kind {
	case 1, 3, 4, 13, 16, 18:
	default:
		return 0, false
	}
	var b [8]byte
	size := kindSizes[e.Kind]
	if i < 0 || i >= e.Count || !t.Inside(e) {
		return 0, false
	}
	if n, _ := t.R.ReadAt(b[:size], e.Offset+i*size); int64(n) < size {
		return 0, false
	}
	if size == 8 {
		return int64(min(t.Order.Uint64(b[:]), MaxLength)), true
	}
	return int64(t.decode(e.Kind, b[:])), true
}

func (t Reader) decode(kind uint16, b []byte) float64 {
	switch kind {
	case 1:
		return float64(b[0])
	case 3:
		return float64(t.Order.Uint16(b))
	case 4, 13:
		return float64(t.Order.Uint32(b))
	case 5:
		return ratio(float64(t.Order.Uint32(b)), float64(t.Order.Uint32(b[4:])))
	case 6:
		return float64(int8(b[0]))
	case 8:
		return float64(int16(t.Order.Uint16(b)))
	case 9:
		return float64(int32(t.Order.Uint32(b)))
	case 10:
		return ratio(float64(int32(t.Order.Uint32(b))), float64(int32(t.Order.Uint32(b[4:]))))
	case 11:
		return float64(math.Float32frombits(t.Order.Uint32(b)))
	case 12:
		return math.Float64frombits(t.Order.Uint64(b))
	case 16, 18:
		return float64(t.Order.Uint64(b))
	case 17:
		return float64(int64(t.Order.Uint64(b)))
	}
	return math.NaN()
}

func ratio(numerator, denominator float64) float64 {
	if denominator == 0 {
		return math.NaN()
	}
	return numerator / denominator
}

// NotFinite reports whether v is NaN or infinite.
func NotFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
