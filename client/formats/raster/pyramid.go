package raster

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"io"

	"transect/client/formats/tiff"
)

// The chunks of overviews: low, so that a row of them fits into memory, and even lower in wide overviews.
const (
	overviewW = 256
	overviewH = 64
	wide      = 1 << 16
	wideH     = 16
)

// smallest is the longest side of the last overview.
const smallest = 256

// slowChunk is the size of chunks, in bytes, above which drawing a tile from them would be slow:
// such a raster is copied completely.
const slowChunk = 1 << 20

// File is the destination of overviews.
type File interface {
	io.ReaderAt
	io.WriterAt
}

// WriteOverviews writes the input of UseOverviews: a BigTIFF file with the overviews that the
// raster lacks, in colours, each half as large as the one before. It includes the raster itself if
// its chunks are too large to draw tiles from.
func (r *Raster) WriteOverviews(ctx context.Context, f File) error {
	if r.undrawn != nil {
		return r.undrawn
	}
	s, err := r.colours()
	if err != nil {
		return err
	}
	full, last := r.levels[0], r.levels[len(r.levels)-1]
	w := &pyramid{ctx: ctx, file: f, at: 16}
	w.coder, _ = zlib.NewWriterLevel(nil, zlib.BestSpeed)
	from, err := last, nil
	if full.rowBytes()*int64(full.chunkH) > slowChunk {
		from, err = w.add(full, 1)
	}
	for err == nil && (max(from.width, from.height) > smallest || len(w.levels) == 0) {
		from, err = w.add(from, 2)
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(description{full.width, full.height, s.low, s.high, r.beside, r.replaced})
	if err != nil {
		return err
	}
	return w.finish(text)
}

// pyramid writes a file of overviews. Numbers are little-endian.
type pyramid struct {
	ctx    context.Context
	file   File
	at     int64
	levels []*written
	coder  *zlib.Writer
}

// written is a level with the offsets and lengths of its written chunks.
type written struct {
	*level
	offsets, lengths []uint64
}

// add writes a level, reduced from another one by a factor.
func (w *pyramid) add(from *level, factor int) (*level, error) {
	half := func(n int) int { return (n + factor - 1) / factor }
	p := &page{reader: tiff.Reader{R: w.file, Size: 1 << 62, Order: binary.LittleEndian},
		cache: from.cache, key: fmt.Sprint("written ", len(w.levels)),
		width: half(from.width), height: half(from.height), tiled: true, chunkW: overviewW, chunkH: overviewH,
		samples: 4, bits: 8, format: unsigned, compression: deflated, predictor: 2, photometric: rgb, alpha: 3,
		premultiplied: true, painted: true}
	if p.width > wide && from.chunkW >= from.width {
		p.chunkH = wideH
	}
	to := &written{level: &level{page: p, r: from.r}}
	n := p.across() * p.down()
	to.offsets, to.lengths = make([]uint64, n), make([]uint64, n)
	p.index = func(i int64) (int64, int64, bool) { return int64(to.offsets[i]), int64(to.lengths[i]), true }
	// Columns of tiles are read in order, so that the tiles of a row of them stay in the cache;
	// strips are read once from the top down.
	columns := p.across()
	if from.chunkW < from.width {
		columns = max(8, from.chunkW/factor/overviewW)
	}
	for x := 0; x < p.across(); x += columns {
		for y := range p.down() {
			if err := w.ctx.Err(); err != nil {
				return nil, context.Cause(w.ctx)
			}
			part := window{x * overviewW, y * p.chunkH, (x + columns) * overviewW, (y + 1) * p.chunkH}.clip(p)
			source := window{part.x0 * factor, part.y0 * factor, part.x1 * factor, part.y1 * factor}.clip(from.page)
			picture, err := from.read(source, factor)
			if err != nil {
				return nil, err
			}
			if err := w.chunks(to, picture, y*p.across()+x); err != nil {
				return nil, err
			}
		}
	}
	w.levels = append(w.levels, to)
	return to.level, nil
}

// chunks writes a picture of the height of a chunk, starting at chunk first.
func (w *pyramid) chunks(to *written, picture *image.RGBA, first int) error {
	chunk := make([]byte, overviewW*to.chunkH*4)
	var coded bytes.Buffer
	for i := 0; i*overviewW < picture.Rect.Dx(); i++ {
		clear(chunk)
		var any byte
		for y := range picture.Rect.Dy() {
			row := picture.Pix[y*picture.Stride+i*overviewW*4 : y*picture.Stride+4*min((i+1)*overviewW, picture.Rect.Dx())]
			at := chunk[y*overviewW*4:]
			copy(at, row)
			for x := 3; x < len(row); x += 4 {
				any |= row[x]
			}
			for x := overviewW*4 - 1; x >= 4; x-- {
				at[x] -= at[x-4]
			}
		}
		if any == 0 {
			continue // omit fully transparent chunks
		}
		coded.Reset()
		w.coder.Reset(&coded)
		_, _ = w.coder.Write(chunk)
		w.coder.Close()
		if _, err := w.file.WriteAt(coded.Bytes(), w.at); err != nil {
			return err
		}
		to.offsets[first+i], to.lengths[first+i] = uint64(w.at), uint64(coded.Len())
		w.at += int64(coded.Len())
	}
	return nil
}

// Types of TIFF fields.
const (
	fieldASCII  = 2
	fieldShort  = 3
	fieldLong   = 4
	fieldLong16 = 16
)

// finish writes the directories and finally the header.
func (w *pyramid) finish(text []byte) error {
	var first uint64
	link := int64(8) // where to write the offset of the next directory
	header := append([]byte("II\x2b\x00\x08\x00\x00\x00"), make([]byte, 8)...)
	for i, l := range w.levels {
		var body bytes.Buffer // values that do not fit into their field
		start := w.at
		inline := func(data []byte) uint64 {
			at := uint64(start) + uint64(body.Len())
			body.Write(data)
			return at
		}
		long := func(values []uint64) uint64 {
			data := make([]byte, 8*len(values))
			for i, v := range values {
				binary.LittleEndian.PutUint64(data[8*i:], v)
			}
			if len(values) == 1 {
				return values[0]
			}
			return inline(data)
		}
		type field struct {
			tag, kind    uint16
			count, value uint64
		}
		n := uint64(len(l.offsets))
		reduced := uint64(1)
		if full := l.r.levels[0]; l.width == full.width && l.height == full.height {
			reduced = 0
		}
		fields := []field{
			{tiff.NewSubfileType, fieldLong, 1, reduced}, {tiff.ImageWidth, fieldLong, 1, uint64(l.width)}, {tiff.ImageLength,
				fieldLong, 1, uint64(l.height)},
			{tiff.BitsPerSample, fieldShort, 4, 0x0008000800080008}, {tiff.Compression, fieldShort, 1,
				deflated}, {tiff.Photometric, fieldShort, 1, rgb},
		}
		if i == 0 {
			if len(text) < 8 {
				return fmt.Errorf("the description %q is too short", text)
			}
			fields = append(fields, field{tiff.Description, fieldASCII, uint64(len(text) + 1), inline(append(text, 0))})
		}
		fields = append(fields, field{tiff.SamplesPerPixel, fieldShort, 1, 4}, field{tiff.Planar, fieldShort, 1, 1},
			field{tiff.Predictor, fieldShort, 1, 2},
			field{tiff.TileWidth, fieldLong, 1, overviewW}, field{tiff.TileLength, fieldLong, 1, uint64(l.chunkH)},
			field{tiff.TileOffsets, fieldLong16, n, long(l.offsets)}, field{tiff.TileByteCounts, fieldLong16, n,
				long(l.lengths)},
			field{tiff.ExtraSamples, fieldShort, 1, 1})
		at := uint64(start) + uint64(body.Len())
		directory := binary.LittleEndian.AppendUint64(nil, uint64(len(fields)))
		for _, f := range fields {
			directory = binary.LittleEndian.AppendUint16(directory, f.tag)
			directory = binary.LittleEndian.AppendUint16(directory, f.kind)
			directory = binary.LittleEndian.AppendUint64(directory, f.count)
			directory = binary.LittleEndian.AppendUint64(directory, f.value)
		}
		directory = append(directory, make([]byte, 8)...)
		body.Write(directory)
		if _, err := w.file.WriteAt(body.Bytes(), start); err != nil {
			return err
		}
		w.at = start + int64(body.Len())
		if i == 0 {
			first = at
		} else if _, err := w.file.WriteAt(binary.LittleEndian.AppendUint64(nil, at), link); err != nil {
			return err
		}
		link = w.at - 8
	}
	binary.LittleEndian.PutUint64(header[8:], first)
	_, err := w.file.WriteAt(header, 0)
	return err
}
