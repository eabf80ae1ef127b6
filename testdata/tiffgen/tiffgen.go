// Package tiffgen writes small TIFF files for tests: any layout and type of values
// that package raster reads, and mistakes on purpose.
package tiffgen

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// Compressions by their TIFF number.
const (
	None     = 1
	LZW      = 5
	JPEG     = 7
	Deflate  = 8
	PackBits = 32773
)

// Image describes one image of a file. Zero values stand for one band of bytes in
// one uncompressed strip.
type Image struct {
	Width, Height int
	Bands         int // 1 if 0
	Bits          int // 8 if 0
	Format        int // 1 unsigned, 2 signed, 3 floating
	Rows          int // of a strip; all if 0
	TileW, TileH  int // tiles instead of strips
	Planar        bool
	Compression   int
	Predictor     int
	Photometric   int  // 1, black is zero, if 0
	Alpha         bool // the last band is alpha
	NoData        string
	Palette       [][3]uint8
	Reduced, Mask bool
	// Value is that of a band of a pixel.
	Value func(x, y, band int) float64
	// EPSG of the reference system, origin of the upper left corner, and size of a
	// pixel; no georeference if 0.
	EPSG        int
	X, Y, Pixel float64
	Geographic  bool
	Extra       []Field // further fields, or other values of those above
}

// Field is a field of a directory: numbers, or a text.
type Field struct {
	Tag     uint16
	Kind    uint16 // 2 text, 3 short, 4 long, 12 double, 16 long of 64 bits
	Numbers []float64
	Text    string
}

// Options are those of a file.
type Options struct {
	Big       bool // BigTIFF
	BigEndian bool
}

// File writes images one after the other.
func File(o Options, images ...Image) []byte {
	w := &writer{Options: o, order: binary.LittleEndian}
	mark := "II"
	if o.BigEndian {
		w.order, mark = binary.BigEndian, "MM"
	}
	w.b.WriteString(mark)
	link := 4
	if o.Big {
		w.short(43)
		w.short(8)
		w.short(0)
		link = 8
		w.offset(0)
	} else {
		w.short(42)
		w.offset(0)
	}
	for _, m := range images {
		at, next := w.image(m.filled())
		w.patch(link, at)
		link = next
	}
	return w.b.Bytes()
}

func (m Image) filled() Image {
	for _, v := range []*int{&m.Bands, &m.Photometric, &m.Format, &m.Predictor, &m.Compression} {
		*v = max(*v, 1)
	}
	if m.Bits == 0 {
		m.Bits = 8
	}
	if m.Rows == 0 {
		m.Rows = m.Height
	}
	if m.Value == nil {
		m.Value = func(x, y, band int) float64 { return float64((x + 2*y + 40*band) % 256) }
	}
	return m
}

type writer struct {
	Options
	b     bytes.Buffer
	order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
}

func (w *writer) short(v int) { w.b.Write(w.order.AppendUint16(nil, uint16(v))) }

func (w *writer) offset(v int) {
	if w.Big {
		w.b.Write(w.order.AppendUint64(nil, uint64(v)))
	} else {
		w.b.Write(w.order.AppendUint32(nil, uint32(v)))
	}
}

func (w *writer) patch(at, v int) {
	if w.Big {
		w.order.PutUint64(w.b.Bytes()[at:], uint64(v))
	} else {
		w.order.PutUint32(w.b.Bytes()[at:], uint32(v))
	}
}

// image writes the pixels and the directory; it returns where the directory and
// the offset of the next one are.
func (w *writer) image(m Image) (at, next int) {
	var offsets, lengths []float64
	chunkW, chunkH := m.Width, m.Rows
	if m.TileW > 0 {
		chunkW, chunkH = m.TileW, m.TileH
	}
	planes := 1
	if m.Planar {
		planes = m.Bands
	}
	for plane := range planes {
		for y := 0; y < m.Height; y += chunkH {
			for x := 0; x < m.Width; x += chunkW {
				rows := chunkH
				if m.TileW == 0 {
					rows = min(rows, m.Height-y)
				}
				data := w.chunk(m, plane, x, y, chunkW, rows)
				offsets, lengths = append(offsets, float64(w.b.Len())), append(lengths, float64(len(data)))
				w.b.Write(data)
			}
		}
	}
	return w.directory(w.fields(m, offsets, lengths))
}

// fields are those of the directory of an image.
func (w *writer) fields(m Image, offsets, lengths []float64) []Field {
	repeat := func(v int) (list []float64) {
		for range m.Bands {
			list = append(list, float64(v))
		}
		return list
	}
	kind := 0
	if m.Reduced {
		kind |= 1
	}
	if m.Mask {
		kind |= 4
	}
	number := func(tag, kind uint16, values ...float64) Field { return Field{Tag: tag, Kind: kind, Numbers: values} }
	list := []Field{
		number(254, 4, float64(kind)), number(256, 4, float64(m.Width)), number(257, 4, float64(m.Height)),
		number(258, 3, repeat(m.Bits)...), number(259, 3, float64(m.Compression)), number(262, 3, float64(m.Photometric)),
		number(277, 3, float64(m.Bands)), number(317, 3, float64(m.Predictor)), number(339, 3, repeat(m.Format)...),
	}
	planar := 1.0
	if m.Planar {
		planar = 2
	}
	list = append(list, number(284, 3, planar))
	if m.TileW > 0 {
		list = append(list, number(322, 4, float64(m.TileW)), number(323, 4, float64(m.TileH)), number(324, 4, offsets...), number(325, 4, lengths...))
	} else {
		list = append(list, number(273, 4, offsets...), number(278, 4, float64(m.Rows)), number(279, 4, lengths...))
	}
	if m.Alpha {
		list = append(list, number(338, 3, 2))
	}
	if m.NoData != "" {
		list = append(list, Field{Tag: 42113, Kind: 2, Text: m.NoData})
	}
	if m.Palette != nil {
		colours := make([]float64, 3<<m.Bits)
		for i, p := range m.Palette {
			for c := range 3 {
				colours[c<<m.Bits+i] = float64(p[c]) * 257
			}
		}
		list = append(list, number(320, 3, colours...))
	}
	if m.EPSG != 0 {
		model, key := 1.0, 3072.0
		if m.Geographic {
			model, key = 2, 2048
		}
		list = append(list, number(33550, 12, m.Pixel, m.Pixel, 0), number(33922, 12, 0, 0, 0, m.X, m.Y, 0),
			number(34735, 3, 1, 1, 0, 3, 1024, 0, 1, model, 1025, 0, 1, 1, key, 0, 1, float64(m.EPSG)))
	}
	for _, f := range m.Extra {
		list = append(slices.DeleteFunc(list, func(other Field) bool { return other.Tag == f.Tag }), f)
	}
	slices.SortFunc(list, func(a, b Field) int { return int(a.Tag) - int(b.Tag) })
	return list
}

func (w *writer) directory(fields []Field) (at, next int) {
	size, inline := 4, 4
	if w.Big {
		size, inline = 8, 8
	}
	values := make([][]byte, len(fields))
	offsets := make([]int, len(fields))
	for i, f := range fields {
		for _, v := range f.Numbers {
			switch f.Kind {
			case 1:
				values[i] = append(values[i], byte(v))
			case 3:
				values[i] = w.order.AppendUint16(values[i], uint16(v))
			case 4:
				values[i] = w.order.AppendUint32(values[i], uint32(v))
			case 12:
				values[i] = w.order.AppendUint64(values[i], math.Float64bits(v))
			case 16:
				values[i] = w.order.AppendUint64(values[i], uint64(v))
			}
		}
		if f.Kind == 2 {
			values[i] = append([]byte(f.Text), 0)
		}
		if len(values[i]) > inline {
			offsets[i] = w.b.Len()
			w.b.Write(values[i])
		}
	}
	at = w.b.Len()
	if w.Big {
		w.offset(len(fields))
	} else {
		w.short(len(fields))
	}
	for i, f := range fields {
		w.short(int(f.Tag))
		w.short(int(f.Kind))
		count := len(f.Numbers)
		if f.Kind == 2 {
			count = len(values[i])
		}
		w.offset(count)
		if offsets[i] > 0 {
			w.offset(offsets[i])
		} else {
			w.b.Write(append(slices.Clone(values[i]), make([]byte, size-len(values[i]))...))
		}
	}
	next = w.b.Len()
	w.offset(0)
	return at, next
}
