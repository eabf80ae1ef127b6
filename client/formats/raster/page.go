package raster

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"transect/client/formats/tiff"
)

// Values of the tag photometric.
const (
	whiteIsZero = 0
	blackIsZero = 1
	rgb         = 2
	paletted    = 3
	ycbcr       = 6
)

// Values of the tag compression.
const (
	plain      = 1
	lzwCoded   = 5
	jpegCoded  = 7
	deflated   = 8
	oldDeflate = 32946
	packBits   = 32773
)

var otherCompressions = map[int]string{2: "CCITT", 3: "CCITT fax 3", 4: "CCITT fax 4", 6: "old-style JPEG",
	34712: "JPEG 2000",
	34887: "LERC", 34925: "LZMA", 50000: "ZSTD", 50001: "WebP", 50002: "JPEG XL"}

// Kinds of samples, the values of the tag sample format.
const (
	unsigned = 1
	signed   = 2
	floating = 3
)

// page is one image of a file.
type page struct {
	reader tiff.Reader
	cache  *Cache
	key    string // prefix of its chunks' keys in the cache
	// open are the large chunks being read by rows; streams is held meanwhile.
	streams sync.Mutex
	open    map[int64]*rows
	// index returns the offset and length of a chunk.
	index func(i int64) (offset, length int64, ok bool)

	width, height   int
	reduced, mask   bool // kinds of images: an overview, a mask
	tiled, planar   bool
	chunkW, chunkH  int
	samples         int
	bits, format    int
	mixed           bool // samples of different kinds
	compression     int
	predictor       int
	photometric     int
	alpha           int // index of the sample with the alpha channel, -1 for none
	premultiplied   bool
	palette         [][4]uint8
	tables          []byte // shared by JPEG chunks
	noData          *float64
	description     string
	painted         bool // an overview made by this package: its colours are final
	offsets, counts tiff.Entry
	directory       tiff.Directory
}

func newPage(t tiff.Reader, d tiff.Directory, c *Cache, key string) *page {
	number := func(tag uint16, otherwise int) int {
		if v, ok := t.Number(d, tag); ok && v >= 0 && v <= math.MaxInt32 {
			return int(v)
		}
		return otherwise
	}
	p := &page{reader: t, cache: c, key: key, directory: d, alpha: -1, open: map[int64]*rows{},
		width: number(tiff.ImageWidth, 0), height: number(tiff.ImageLength, 0),
		samples: number(tiff.SamplesPerPixel, 1), bits: number(tiff.BitsPerSample, 1), format: number(tiff.SampleFormat,
			unsigned),
		planar: number(tiff.Planar, 1) == 2, compression: number(tiff.Compression, plain), predictor: number(tiff.Predictor,
			1),
		photometric: number(tiff.Photometric, blackIsZero), description: string(t.Bytes(d, tiff.Description)),
	}
	kind := number(tiff.NewSubfileType, 0)
	p.reduced, p.mask = kind&1 != 0, kind&4 != 0
	for _, tag := range []uint16{tiff.BitsPerSample, tiff.SampleFormat} {
		values := t.Integers(d, tag)
		for _, v := range values {
			p.mixed = p.mixed || v != values[0]
		}
	}
	if p.format == 4 { // undefined
		p.format = unsigned
	}
	_, p.tiled = d.Entries[tiff.TileOffsets]
	if p.tiled {
		p.chunkW, p.chunkH = number(tiff.TileWidth, 0), number(tiff.TileLength, 0)
		p.offsets, p.counts = d.Entries[tiff.TileOffsets], d.Entries[tiff.TileByteCounts]
	} else {
		p.chunkW, p.chunkH = p.width, min(number(tiff.RowsPerStrip, math.MaxInt32), p.height)
		p.offsets, p.counts = d.Entries[tiff.StripOffsets], d.Entries[tiff.StripByteCounts]
	}
	p.index = p.indexed
	p.description, _, _ = strings.Cut(p.description, "\x00")
	p.tables = t.Bytes(d, tiff.JPEGTables)
	extra := t.Integers(d, tiff.ExtraSamples)
	for i, v := range extra {
		if (v == 1 || v == 2) && p.alpha < 0 {
			p.alpha, p.premultiplied = p.samples-len(extra)+i, v == 1
		}
	}
	if text := t.Text(d, tiff.NoData); text != "" {
		if v, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
			p.noData = &v
		}
	}
	p.readPalette(t.Integers(d, tiff.ColorMap))
	return p
}

func (p *page) readPalette(values []int64) {
	n := len(values) / 3
	if p.photometric != paletted || n == 0 {
		return
	}
	for i := range n {
		p.palette = append(p.palette,
			[4]uint8{uint8(values[i] >> 8), uint8(values[n+i] >> 8), uint8(values[2*n+i] >> 8), 255})
	}
}

// drawable returns why the page cannot be read or drawn.
func (p *page) drawable() error {
	if err := p.check(); err != nil {
		return err
	}
	return p.checkPixels()
}

// check returns why the page is not a raster.
func (p *page) check() error {
	switch {
	case p.width <= 0 || p.height <= 0:
		return fmt.Errorf("the raster has no size: %d x %d pixels", p.width, p.height)
	case p.width > maxSide || p.height > maxSide || int64(p.width)*int64(p.height) > maxPixels:
		return fmt.Errorf("the raster is too large: %d x %d pixels", p.width, p.height)
	case p.samples < 1 || p.samples > math.MaxUint16 || p.alpha >= p.samples:
		return fmt.Errorf("the raster has %d bands", p.samples)
	case p.chunkW <= 0 || p.chunkH <= 0 || p.chunkW > maxSide || p.chunkH > maxSide:
		return fmt.Errorf("the tiles of the raster have %d x %d pixels", p.chunkW, p.chunkH)
	case p.offsets.Count == 0:
		return fmt.Errorf("the raster has no pixels")
	case p.offsets.Count < p.chunks():
		return fmt.Errorf("the raster is damaged: it lists %d of its %d pieces", p.offsets.Count, p.chunks())
	case !p.reader.Inside(p.offsets) || !p.reader.Inside(p.counts):
		return fmt.Errorf("the file is cut short: the list of its pixels is missing")
	}
	return nil
}

// checkPixels returns why the pixels of the page cannot be drawn.
func (p *page) checkPixels() error {
	switch {
	case p.mixed:
		return fmt.Errorf("the bands are of different types")
	case p.photometric == paletted && (p.palette == nil || p.bits > 8 || p.format != unsigned):
		return fmt.Errorf("the raster has a colour table that cannot be read")
	}
	switch p.photometric {
	case whiteIsZero, blackIsZero, rgb, paletted, 4, 32803, 34892:
	case ycbcr:
		if p.compression != jpegCoded {
			return fmt.Errorf("YCbCr colours without JPEG compression are not supported")
		}
	default:
		return fmt.Errorf("the colours of the raster are not supported: photometric interpretation %d", p.photometric)
	}
	switch {
	case p.format == floating && (p.bits == 32 || p.bits == 64):
	case p.format == unsigned && (p.bits == 1 || p.bits == 2 || p.bits == 4):
	case (p.format == unsigned || p.format == signed) && (p.bits == 8 || p.bits == 16 || p.bits == 32 || p.bits == 64):
	default:
		return fmt.Errorf("the values of the raster are not supported: %s", p.typeName())
	}
	return p.checkCoding()
}

func (p *page) checkCoding() error {
	switch p.compression {
	case plain, lzwCoded, deflated, oldDeflate, packBits:
	case jpegCoded:
		if p.bits != 8 || p.perChunk() != 1 && p.perChunk() != 3 {
			return fmt.Errorf("JPEG compression of %d bands of %d bits is not supported", p.samples, p.bits)
		}
		if int64(p.chunkW)*int64(p.chunkH) > maxJPEG {
			return fmt.Errorf("JPEG compression in pieces of %d x %d pixels is not supported: compress it in tiles", p.chunkW,
				p.chunkH)
		}
	default:
		if name := otherCompressions[p.compression]; name != "" {
			return fmt.Errorf("%s compression is not supported: convert the raster, for example with gdal_translate -co "+
				"COMPRESS=DEFLATE -co TILED=YES", name)
		}
		return fmt.Errorf("the compression %d is not supported", p.compression)
	}
	switch {
	case p.predictor == 1, p.compression != lzwCoded && p.compression != deflated && p.compression != oldDeflate:
	case p.predictor == 2 && p.bits >= 8 && p.format != floating, p.predictor == 2 && p.bits >= 8:
	case p.predictor == 3 && p.format == floating:
	default:
		return fmt.Errorf("the predictor %d for %s is not supported", p.predictor, p.typeName())
	}
	if row := p.rowBytes(); row > maxRow {
		return fmt.Errorf("a row of the raster has %d bytes: more than %d are not supported", row, maxRow)
	}
	return nil
}

// typeName names the type of the values, as GDAL does.
func (p *page) typeName() string {
	kinds := map[int]string{unsigned: "UInt", signed: "Int", floating: "Float", 5: "CInt", 6: "CFloat"}
	return kinds[p.format] + strconv.Itoa(p.bits)
}

// across returns the number of chunks in a row, down the number of rows of chunks.
func (p *page) across() int { return (p.width + p.chunkW - 1) / p.chunkW }
func (p *page) down() int   { return (p.height + p.chunkH - 1) / p.chunkH }

// chunks returns the number of chunks of the page.
func (p *page) chunks() int64 {
	n := int64(p.across()) * int64(p.down())
	if p.planar {
		n *= int64(p.samples)
	}
	return n
}

// perChunk returns the number of samples per pixel in one chunk.
func (p *page) perChunk() int {
	if p.planar {
		return 1
	}
	return p.samples
}

// rowBytes returns the length of one row of a chunk.
func (p *page) rowBytes() int64 {
	return (int64(p.chunkW)*int64(p.perChunk())*int64(p.bits) + 7) / 8
}

// rowsIn returns the height of the chunks in a row of chunks: the last strip is shorter, tiles are all alike.
func (p *page) rowsIn(down int) int {
	if p.tiled {
		return p.chunkH
	}
	return min(p.chunkH, p.height-down*p.chunkH)
}

func (p *page) indexed(i int64) (offset, length int64, ok bool) {
	if offset, ok = p.reader.At(p.offsets, i); !ok {
		return 0, 0, false
	}
	if p.counts.Count == 0 { // some writers omit them
		return offset, max(0, p.reader.Size-offset), true
	}
	length, ok = p.reader.At(p.counts, i)
	if whole := int64(p.rowsIn(int(i/int64(p.across())%int64(p.down())))) * p.rowBytes(); p.compression == plain &&
		length < whole && offset+whole <= p.reader.Size {
		length = whole // some cameras record too few bytes
	}
	return offset, length, ok
}

func (p *page) order() binary.ByteOrder { return p.reader.Order }
