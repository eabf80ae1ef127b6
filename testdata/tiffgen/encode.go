package tiffgen

import (
	"bytes"
	"compress/zlib"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"slices"
)

// chunk encodes a strip or a tile.
func (w *writer) chunk(m Image, plane, x0, y0, width, height int) []byte {
	bands := m.Bands
	if m.Planar {
		bands = 1
	}
	value := func(x, y, band int) float64 {
		// Beyond the edge the last values are repeated.
		return m.Value(min(x0+x, m.Width-1), min(y0+y, m.Height-1), plane+band)
	}
	if m.Compression == JPEG {
		return picture(bands, width, height, value)
	}
	var all []byte
	for y := range height {
		var row []byte
		if m.Bits < 8 {
			row = make([]byte, (width*bands*m.Bits+7)/8)
		}
		for x := range width {
			for band := range bands {
				v := value(x, y, band)
				if m.Bits < 8 {
					bit := (x*bands + band) * m.Bits
					row[bit/8] |= uint8(v) << (8 - m.Bits - bit%8)
					continue
				}
				row = w.number(row, m, v)
			}
		}
		switch m.Predictor {
		case 2:
			row = w.differences(row, bands, m.Bits/8)
		case 3:
			row = w.floats(row, bands, m.Bits/8)
		}
		all = append(all, row...)
	}
	switch m.Compression {
	case Deflate:
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		z.Write(all)
		z.Close()
		return b.Bytes()
	case PackBits:
		return packBits(all)
	case LZW:
		return literals(all)
	}
	return all
}

func (w *writer) number(row []byte, m Image, v float64) []byte {
	switch {
	case m.Format == 3 && m.Bits == 32:
		return w.order.AppendUint32(row, math.Float32bits(float32(v)))
	case m.Format == 3:
		return w.order.AppendUint64(row, math.Float64bits(v))
	}
	switch m.Bits {
	case 8:
		return append(row, byte(int64(v)))
	case 16:
		return w.order.AppendUint16(row, uint16(int64(v)))
	case 32:
		return w.order.AppendUint32(row, uint32(int64(v)))
	}
	return w.order.AppendUint64(row, uint64(int64(v)))
}

func (w *writer) differences(row []byte, bands, size int) []byte {
	for i := len(row) - size; i >= bands*size; i -= size {
		before := row[i-bands*size:]
		switch size {
		case 1:
			row[i] -= before[0]
		case 2:
			w.order.PutUint16(row[i:], w.order.Uint16(row[i:])-w.order.Uint16(before))
		case 4:
			w.order.PutUint32(row[i:], w.order.Uint32(row[i:])-w.order.Uint32(before))
		case 8:
			w.order.PutUint64(row[i:], w.order.Uint64(row[i:])-w.order.Uint64(before))
		}
	}
	return row
}

// floats writes the most significant bytes of all floats first, as differences.
func (w *writer) floats(row []byte, bands, size int) []byte {
	count := len(row) / size
	to := make([]byte, len(row))
	for i := range count {
		value := slices.Clone(row[i*size : (i+1)*size])
		if !w.BigEndian {
			slices.Reverse(value)
		}
		for b, v := range value {
			to[b*count+i] = v
		}
	}
	for i := len(to) - 1; i >= bands; i-- {
		to[i] -= to[i-bands]
	}
	return to
}

func packBits(data []byte) (to []byte) {
	for len(data) > 0 {
		n := 1
		for n < len(data) && n < 128 && data[n] == data[0] {
			n++
		}
		if n > 1 {
			to = append(to, byte(1-n), data[0])
		} else {
			for n < len(data) && n < 128 && data[n] != data[n-1] {
				n++
			}
			to = append(append(to, byte(n-1)), data[:n]...)
		}
		data = data[n:]
	}
	return to
}

// literals is LZW without any repetition: codes of 9 bits, with a new table before
// they would grow.
func literals(data []byte) []byte {
	var to []byte
	var bits uint32
	n := 0
	code := func(c uint32) {
		bits, n = bits<<9|c, n+9
		for ; n >= 8; n -= 8 {
			to = append(to, byte(bits>>(n-8)))
		}
	}
	for i, v := range data {
		if i%200 == 0 {
			code(256)
		}
		code(uint32(v))
	}
	code(257)
	return append(to, byte(bits<<(8-n)))
}

func picture(bands, width, height int, value func(x, y, band int) float64) []byte {
	var m image.Image
	if bands == 1 {
		grey := image.NewGray(image.Rect(0, 0, width, height))
		for i := range grey.Pix {
			grey.Pix[i] = uint8(value(i%width, i/width, 0))
		}
		m = grey
	} else {
		all := image.NewRGBA(image.Rect(0, 0, width, height))
		for y := range height {
			for x := range width {
				all.SetRGBA(x, y, color.RGBA{uint8(value(x, y, 0)), uint8(value(x, y, 1)), uint8(value(x, y, 2)), 255})
			}
		}
		m = all
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 100}); err != nil {
		panic(err)
	}
	return b.Bytes()
}
