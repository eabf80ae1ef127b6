package raster

import (
	"bufio"
	"compress/zlib"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"slices"

	"golang.org/x/image/tiff/lzw"
)

const (
	maxChunk = 8 << 20  // bytes of a chunk decoded at once; larger ones by rows
	maxRow   = 16 << 20 // bytes of a row of a chunk
	maxJPEG  = 16 << 20 // pixels of a JPEG chunk, which is always decoded at once
)

// cutShort returns the error for pixels missing from the file.
func cutShort(chunk int64) error {
	return fmt.Errorf("the file is cut short or damaged: the pixels of piece %d are missing", chunk)
}

// stored returns the stored bytes of a chunk; nil for an omitted one.
func (p *page) stored(i int64) (*io.SectionReader, error) {
	offset, length, ok := p.index(i)
	switch {
	case !ok || offset < 0 || offset+length > p.reader.Size:
		return nil, cutShort(i)
	case length == 0:
		return nil, nil
	}
	return io.NewSectionReader(p.reader.R, offset, length), nil
}

// rows returns a reader of the rows of a chunk.
func (p *page) rows(stored io.Reader) (*rows, error) {
	var decoded io.Reader
	switch p.compression {
	case plain:
		decoded = stored
	case lzwCoded:
		decoded = lzw.NewReader(stored, lzw.MSB, 8)
	case packBits:
		decoded = &unpacker{r: bufio.NewReader(stored)}
	default:
		z, err := zlib.NewReader(bufio.NewReader(stored))
		if err != nil {
			return nil, err
		}
		decoded = z
	}
	return &rows{p: p, r: decoded}, nil
}

// rows reads the rows of a chunk in order.
type rows struct {
	p    *page
	r    io.Reader
	next int // number of the next row
}

// read reads one row and undoes the predictor.
func (r *rows) read(row []byte) error {
	if _, err := io.ReadFull(r.r, row); err != nil {
		return err
	}
	r.next++
	switch r.p.predictor {
	case 2:
		r.p.undoDifferences(row)
	case 3:
		r.p.undoFloats(row)
	}
	return nil
}

// decode decodes a complete chunk of count rows.
func (p *page) decode(i int64, count int) ([]byte, error) {
	stored, err := p.stored(i)
	if err != nil {
		return nil, err
	}
	length := int(p.rowBytes())
	data := make([]byte, count*length)
	if stored == nil {
		p.fill(data)
		return data, nil
	}
	if p.compression == jpegCoded {
		return data, p.decodeJPEG(stored, data, count)
	}
	r, err := p.rows(stored)
	for y := 0; y < count && err == nil; y++ {
		err = r.read(data[y*length : (y+1)*length])
	}
	return data, p.broken(i, err)
}

// broken returns the error for a chunk that cannot be decoded.
func (p *page) broken(i int64, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return cutShort(i)
	}
	return fmt.Errorf("the pixels of piece %d cannot be decoded: %w", i, err)
}

// fill sets the values of an omitted chunk to no data.
func (p *page) fill(data []byte) {
	if p.noData == nil || p.bits < 8 {
		return
	}
	size := p.bits / 8
	value := make([]byte, size)
	var bits uint64
	switch v := *p.noData; {
	case p.format == floating && size == 4:
		bits = uint64(math.Float32bits(float32(v)))
	case p.format == floating:
		bits = math.Float64bits(v)
	default:
		bits = uint64(int64(v))
	}
	switch size {
	case 1:
		value[0] = byte(bits)
	case 2:
		p.order().PutUint16(value, uint16(bits))
	case 4:
		p.order().PutUint32(value, uint32(bits))
	case 8:
		p.order().PutUint64(value, bits)
	}
	for i := range data {
		data[i] = value[i%size]
	}
}

// undoDifferences undoes predictor 2: each sample is the difference from the previous pixel's.
func (p *page) undoDifferences(row []byte) {
	n, order := p.perChunk(), p.order()
	switch p.bits {
	case 8:
		for i := n; i < len(row); i++ {
			row[i] += row[i-n]
		}
	case 16:
		for i := 2 * n; i+2 <= len(row); i += 2 {
			order.PutUint16(row[i:], order.Uint16(row[i:])+order.Uint16(row[i-2*n:]))
		}
	case 32:
		for i := 4 * n; i+4 <= len(row); i += 4 {
			order.PutUint32(row[i:], order.Uint32(row[i:])+order.Uint32(row[i-4*n:]))
		}
	case 64:
		for i := 8 * n; i+8 <= len(row); i += 8 {
			order.PutUint64(row[i:], order.Uint64(row[i:])+order.Uint64(row[i-8*n:]))
		}
	}
}

// undoFloats undoes predictor 3: the bytes of floats, all most significant ones first, as differences.
func (p *page) undoFloats(row []byte) {
	n, size := p.perChunk(), p.bits/8
	for i := n; i < len(row); i++ {
		row[i] += row[i-n]
	}
	scratch := slices.Clone(row)
	count := len(row) / size
	big := p.order().Uint16([]byte{0, 1}) == 1
	for i := range count {
		for b := range size {
			to := b
			if !big {
				to = size - 1 - b
			}
			row[i*size+to] = scratch[b*count+i]
		}
	}
}

// unpacker decodes PackBits.
type unpacker struct {
	r       *bufio.Reader
	literal int // bytes left to copy
	repeat  int // times left to repeat the byte
	value   byte
}

func (u *unpacker) Read(b []byte) (n int, err error) {
	for n < len(b) {
		switch {
		case u.literal > 0:
			m, err := u.r.Read(b[n:min(len(b), n+u.literal)])
			n, u.literal = n+m, u.literal-m
			if err != nil {
				return n, err
			}
		case u.repeat > 0:
			b[n] = u.value
			n, u.repeat = n+1, u.repeat-1
		default:
			head, err := u.r.ReadByte()
			if err != nil {
				return n, err
			}
			switch count := int(int8(head)); {
			case count >= 0:
				u.literal = count + 1
			case count > -128:
				if u.value, err = u.r.ReadByte(); err != nil {
					return n, err
				}
				u.repeat = 1 - count
			}
		}
	}
	return n, nil
}

// decodeJPEG decodes a JPEG chunk to interleaved samples.
func (p *page) decodeJPEG(stored *io.SectionReader, data []byte, count int) error {
	config, err := jpeg.DecodeConfig(p.stream(stored))
	if err != nil {
		return fmt.Errorf("the JPEG pixels cannot be decoded: %w", err)
	}
	if config.Width > p.chunkW+16 || config.Height > p.chunkH+16 {
		return fmt.Errorf("the raster is damaged: JPEG pixels of %d x %d in a piece of %d x %d", config.Width, config.Height,
			p.chunkW, p.chunkH)
	}
	picture, err := jpeg.Decode(p.stream(stored))
	if err != nil {
		return fmt.Errorf("the JPEG pixels cannot be decoded: %w", err)
	}
	w, h := min(p.chunkW, config.Width), min(count, config.Height)
	n := p.perChunk()
	for y := range h {
		row := data[y*p.chunkW*n:]
		for x := range w {
			if !sampleJPEG(picture, x, y, p.photometric, row[x*n:(x+1)*n]) {
				return errors.New("the JPEG pixels have another number of bands than the raster")
			}
		}
	}
	return nil
}

func sampleJPEG(picture image.Image, x, y, photometric int, to []byte) bool {
	switch m := picture.(type) {
	case *image.Gray:
		to[0] = m.Pix[y*m.Stride+x]
		return len(to) == 1
	case *image.RGBA:
		return copy(to, m.Pix[y*m.Stride+4*x:][:3]) == 3
	case *image.YCbCr:
		if len(to) != 3 {
			return false
		}
		luma, c := m.Y[y*m.YStride+x], m.COffset(x, y)
		if photometric == ycbcr {
			to[0], to[1], to[2] = color.YCbCrToRGB(luma, m.Cb[c], m.Cr[c])
		} else { // three bands that are not luma and chroma, which the JPEG does not declare
			to[0], to[1], to[2] = luma, m.Cb[c], m.Cr[c]
		}
		return true
	}
	return false
}
