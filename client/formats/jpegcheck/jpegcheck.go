// Package jpegcheck checks whether the pixel data of a JPEG picture is complete.
//
// Check reads the Huffman codes of every block but computes no pixels, in a quarter of the time of
// image/jpeg and almost no memory. It also finds data left over and restart markers out of order, which
// image/jpeg accepts. Missing, moved or overwritten bytes nearly always end a scan too early or too
// late; damage that leaves a valid picture, such as one changed coefficient, is missed.
//
// This file reads marker segments, scan.go the scans, block.go the blocks in them, bits.go the bits.
// Names are from ITU-T T.81, which every comment refers to.
package jpegcheck

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ErrUnsupported is returned for pictures that cannot be checked: with arithmetic coding, lossless or
// hierarchical ones.
var ErrUnsupported = errors.New("this kind of JPEG is not supported")

// Damage is the error for an incomplete or invalid picture.
type Damage struct {
	Offset int64   // where it was detected, after the actual damage
	Part   float64 // fraction of the picture above it, 0 to 1; 0 before the pixel data
	What   string
}

func (d *Damage) Error() string {
	place := fmt.Sprintf("byte %d", d.Offset)
	if d.Part > 0 {
		place += fmt.Sprintf(", %.0f %% down from its top", 100*d.Part)
	}
	return "the picture is damaged before " + place + ": " + d.What
}

// Markers (table B.1).
const (
	sof0, sof1, sof2 = 0xC0, 0xC1, 0xC2 // baseline, extended, progressive
	dht, dqt, dri    = 0xC4, 0xDB, 0xDD
	dac, dnl         = 0xCC, 0xDC
	rst0, rst7       = 0xD0, 0xD7
	soi, eoi, sos    = 0xD8, 0xD9, 0xDA
	tem              = 0x01
)

// picture is a picture being read.
type picture struct {
	*bitReader
	scanned
	ctx         context.Context
	reserve     func(bytes int64) error
	frame       frame
	huffman     [2][4]*table // DC and AC
	quantizer   [4]int       // of the DC coefficient, 0 for missing tables
	interval    int          // MCUs between restart markers, 0 for none
	row, rows   int          // of MCUs, in the current scan
	progressive bool
}

// Check reads a picture from its start to its end marker, and nothing after it. A progressive picture
// needs up to half a byte per pixel, which it requests from reserve. The error is a *Damage, an
// ErrUnsupported, or comes from the reader, reserve or ctx.
func Check(ctx context.Context, r io.Reader, reserve func(bytes int64) error) error {
	p := &picture{bitReader: newBitReader(r), ctx: ctx, reserve: reserve}
	defer p.release()
	err := p.segments()
	switch {
	case p.failed != nil:
		return p.failed
	case errors.Is(err, errCut):
		err = p.damage("its end is missing")
	}
	return err
}

func (p *picture) damage(format string, args ...any) error {
	d := &Damage{Offset: p.offset(), What: fmt.Sprintf(format, args...)}
	if p.rows > 0 {
		d.Part = float64(p.row) / float64(p.rows)
	}
	return d
}

// segments reads all marker segments and the scans that follow some of them.
func (p *picture) segments() error {
	if first, err := p.number(); err != nil || first != 0xFF00|soi {
		return p.damage("it does not start with the marker of a picture")
	}
	for {
		marker, err := p.marker()
		if err != nil {
			return err
		}
		switch {
		case marker == eoi:
			return p.complete()
		case marker == tem, marker >= rst0 && marker <= rst7 && p.rows > 0: // RST after the last interval
		default:
			if err := p.segment(marker); err != nil {
				return err
			}
		}
	}
}

// maxStray is the maximum number of bytes between two segments before the pixels: decoders skip them.
const maxStray = 4 << 10

// marker reads the next marker, skipping any fill bytes before it.
func (p *picture) marker() (byte, error) {
	b, err := p.next()
	for n := 0; err == nil && b != 0xFF && p.rows == 0 && n < maxStray; n++ {
		b, err = p.next()
	}
	if err == nil && b != 0xFF {
		return 0, p.damage("the byte %#02x is where a marker belongs", b)
	}
	for b == 0xFF && err == nil {
		b, err = p.next()
	}
	return b, err
}

// segment reads a marker segment with its length.
func (p *picture) segment(marker byte) error {
	length, err := p.number()
	if err != nil {
		return err
	}
	if length < 2 {
		return p.damage("a segment of its header has no length")
	}
	length -= 2
	switch {
	case marker >= 0xE0 && marker <= 0xEF, marker == 0xFE: // application data, comment
		return p.skip(length)
	case marker == dnl, marker == dac, marker >= 0xC3 && marker <= 0xCF && marker != dht:
		return ErrUnsupported
	}
	data := make([]byte, length)
	if err := p.read(data); err != nil {
		return err
	}
	switch marker {
	case sof0, sof1, sof2:
		return p.readFrame(data, marker == sof2)
	case dht:
		return p.readTables(data)
	case dqt:
		return p.readQuantizers(data)
	case dri:
		if length != 2 {
			return p.damage("the restart interval of its header is invalid")
		}
		p.interval = int(data[0])<<8 | int(data[1])
		return nil
	case sos:
		return p.scan(data)
	}
	return p.damage("the marker %#02x is unknown", marker)
}

// readTables reads Huffman tables (B.2.4.2).
func (p *picture) readTables(data []byte) error {
	for len(data) > 0 {
		class, id := data[0]>>4, data[0]&15
		if len(data) < 17 || class > 1 || id > 3 {
			return p.damage("a Huffman table is invalid")
		}
		t, size := newTable(data[1:17], data[17:])
		if t == nil {
			return p.damage("a Huffman table is invalid")
		}
		p.huffman[class][id] = t
		data = data[17+size:]
	}
	return nil
}

// readQuantizers reads quantization tables, which bound the coefficients (B.2.4.1).
func (p *picture) readQuantizers(data []byte) error {
	for len(data) > 0 {
		wide, id := int(data[0]>>4), data[0]&15
		size := 1 + 64*(1+wide)
		if wide > 1 || id > 3 || len(data) < size {
			return p.damage("a quantization table is invalid")
		}
		if p.quantizer[id] = int(data[1]); wide == 1 {
			p.quantizer[id] = p.quantizer[id]<<8 | int(data[2])
		}
		data = data[size:]
	}
	return nil
}

// complete returns an error for a picture that ends without all of its components.
func (p *picture) complete() error {
	if len(p.frame.components) == 0 {
		return p.damage("it ends before its pixels")
	}
	for _, c := range p.frame.components {
		if !c.scanned {
			return p.damage("it ends before all colours were there")
		}
	}
	return nil
}
