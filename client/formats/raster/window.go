package raster

import (
	"fmt"
	"image"
)

// bandBytes limits the stored values held at once while reading a window.
const bandBytes = 8 << 20

// maxOpen limits the chunks of a page being read by rows.
const maxOpen = 8

// window is a part of a page, in its pixels.
type window struct{ x0, y0, x1, y1 int }

func (w window) clip(p *page) window {
	return window{max(0, w.x0), max(0, w.y0), min(p.width, w.x1), min(p.height, w.y1)}
}

func (w window) width() int  { return w.x1 - w.x0 }
func (w window) height() int { return w.y1 - w.y0 }

// sampleBytes returns the length of a sample in a window, at least one byte.
func (p *page) sampleBytes() int { return max(1, p.bits/8) }

// values reads samples of a window, pixel after pixel, row after row.
func (p *page) values(w window, samples []int, to []byte) error {
	size := p.sampleBytes()
	stride := w.width() * len(samples) * size
	for down := w.y0 / p.chunkH; down <= (w.y1-1)/p.chunkH; down++ {
		for across := w.x0 / p.chunkW; across <= (w.x1-1)/p.chunkW; across++ {
			left, top := across*p.chunkW, down*p.chunkH
			part := window{max(w.x0, left), max(w.y0, top), min(w.x1, left+p.chunkW), min(w.y1, top+p.chunkH)}
			inside := window{part.x0 - left, part.y0 - top, part.x1 - left, part.y1 - top}
			at := to[(part.y0-w.y0)*stride+(part.x0-w.x0)*len(samples)*size:]
			chunk := int64(down)*int64(p.across()) + int64(across)
			if !p.planar {
				if err := p.copyChunk(chunk, down, inside, samples, at, stride, len(samples)); err != nil {
					return err
				}
				continue
			}
			for i, s := range samples {
				plane := int64(s) * int64(p.across()) * int64(p.down())
				if err := p.copyChunk(plane+chunk, down, inside, []int{0}, at[i*size:], stride, len(samples)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// copyChunk copies samples of a part of a chunk to rows that are stride bytes apart
// and have step samples for each pixel.
func (p *page) copyChunk(i int64, down int, part window, samples []int, to []byte, stride, step int) error {
	rowBytes, count := int(p.rowBytes()), p.rowsIn(down)
	if int64(rowBytes)*int64(count) <= maxChunk || p.compression == jpegCoded {
		data, err := p.cache.get(chunkKey{p.key, i}, func() ([]byte, error) { return p.decode(i, count) })
		if err != nil {
			return err
		}
		for y := part.y0; y < part.y1; y++ {
			p.copyRow(data[y*rowBytes:(y+1)*rowBytes], part.x0, part.x1, samples, to[(y-part.y0)*stride:], step)
		}
		return nil
	}
	if p.compression == plain && p.bits >= 8 {
		return p.copyPlain(i, part, samples, to, stride, step)
	}
	return p.copyStream(i, part, samples, to, stride, step)
}

// copyPlain reads a part of a large uncompressed chunk in place.
func (p *page) copyPlain(i int64, part window, samples []int, to []byte, stride, step int) error {
	stored, err := p.stored(i)
	if err != nil {
		return err
	}
	pixel := p.perChunk() * p.bits / 8
	row := make([]byte, part.width()*pixel)
	for y := part.y0; y < part.y1; y++ {
		if stored == nil {
			p.fill(row)
		} else if n, err := stored.ReadAt(row, int64(y)*p.rowBytes()+int64(part.x0*pixel)); n < len(row) {
			return p.broken(i, err)
		}
		p.copyRow(row, 0, part.width(), samples, to[(y-part.y0)*stride:], step)
	}
	return nil
}

// copyStream reads a part of a large compressed chunk row by row, because the next part is usually
// below this one.
func (p *page) copyStream(i int64, part window, samples []int, to []byte, stride, step int) error {
	p.streams.Lock()
	defer p.streams.Unlock()
	r := p.open[i]
	if r == nil || r.next > part.y0 {
		stored, err := p.stored(i)
		if err != nil {
			return err
		}
		if stored == nil {
			return fmt.Errorf("piece %d of the raster has no pixels", i)
		}
		if r, err = p.rows(stored); err != nil {
			return err
		}
		if len(p.open) >= maxOpen {
			clear(p.open)
		}
		p.open[i] = r
	}
	row := make([]byte, p.rowBytes())
	for r.next < part.y1 {
		y := r.next
		if err := r.read(row); err != nil {
			delete(p.open, i)
			return p.broken(i, err)
		}
		if y >= part.y0 {
			p.copyRow(row, part.x0, part.x1, samples, to[(y-part.y0)*stride:], step)
		}
	}
	return nil
}

// copyRow copies samples of the pixels x0 to x1 of a stored row.
func (p *page) copyRow(row []byte, x0, x1 int, samples []int, to []byte, step int) {
	n, size := p.perChunk(), p.sampleBytes()
	if p.bits < 8 {
		mask := byte(1<<p.bits - 1)
		for x := x0; x < x1; x++ {
			for s, sample := range samples {
				bit := (x*n + sample) * p.bits
				to[(x-x0)*step+s] = row[bit/8] >> (8 - p.bits - bit%8) & mask
			}
		}
		return
	}
	if len(samples) == n && step == n { // all of them, in order
		copy(to[:(x1-x0)*n*size], row[x0*n*size:])
		return
	}
	for s, sample := range samples {
		from, at := (x0*n+sample)*size, s*size
		switch size {
		case 1:
			for range x1 - x0 {
				to[at] = row[from]
				from, at = from+n, at+step
			}
		default:
			for range x1 - x0 {
				copy(to[at:at+size], row[from:from+size])
				from, at = from+n*size, at+step*size
			}
		}
	}
}

// read paints a window of a level, reduced by an integer factor: each pixel of the picture is the
// mean of factor x factor pixels.
func (l *level) read(w window, factor int) (*image.RGBA, error) {
	to := image.NewRGBA(image.Rect(0, 0, (w.width()+factor-1)/factor, (w.height()+factor-1)/factor))
	paint, err := l.painter()
	if err != nil {
		return nil, err
	}
	// Read tiles in columns narrow enough for a row of them to stay in the cache.
	columns := w.width()
	if l.chunkW < l.width {
		one := l.rowBytes() * int64(l.chunkH) * int64(len(paint.samples))
		columns = l.chunkW * int(max(1, bandBytes/max(one, 1)))
	}
	columns = max(factor, columns-columns%factor)
	for x := w.x0; x < w.x1; x += columns {
		column := window{x, w.y0, min(x+columns, w.x1), w.y1}
		part := to.SubImage(image.Rect((x-w.x0)/factor, 0, to.Rect.Max.X, to.Rect.Max.Y)).(*image.RGBA)
		if err := l.readColumn(paint, column, factor, part); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// readColumn is like read for a part of the width, in bands of bounded size.
func (l *level) readColumn(paint *painter, w window, factor int, to *image.RGBA) error {
	pixel := len(paint.samples)*l.sampleBytes() + 4
	height := max(1, bandBytes/(w.width()*pixel))
	if factor > 1 {
		height = max(factor, height-height%factor)
		for height > factor && height*w.width()*pixel > bandBytes {
			height -= factor
		}
	}
	step := height
	if w.width()*pixel*height > 4*bandBytes { // a large factor: less than one row of the picture at a time
		step = max(1, bandBytes/(w.width()*pixel))
	}
	step = min(step, w.height())
	wide := (w.width() + factor - 1) / factor
	sums := make([]uint32, wide*4)
	values := make([]byte, step*w.width()*len(paint.samples)*l.sampleBytes())
	masks := make([]byte, step*w.width())
	row := make([]byte, w.width()*4)
	for y := w.y0; y < w.y1; y += step {
		band := window{w.x0, y, w.x1, min(y+step, w.y1)}
		n := band.width() * len(paint.samples) * l.sampleBytes()
		if err := l.values(band, paint.samples, values); err != nil {
			return err
		}
		if l.mask != nil {
			if err := l.mask.values(band, []int{0}, masks); err != nil {
				return err
			}
		}
		for i := range band.height() {
			out := row
			at := to.PixOffset(to.Rect.Min.X, (y+i-w.y0)/factor)
			if factor == 1 {
				out = to.Pix[at : at+w.width()*4]
			}
			paint.paint(values[i*n:(i+1)*n], out)
			if l.mask != nil {
				hide(out, masks[i*band.width():])
			}
			if factor > 1 {
				add(sums, row, factor)
				if done := (y + i - w.y0 + 1) % factor; done == 0 || y+i+1 == w.y1 {
					rows := done
					if done == 0 {
						rows = factor
					}
					mean(sums, w.width(), rows, factor, to.Pix[at:])
				}
			}
		}
	}
	return nil
}

// hide makes the pixels transparent that a mask excludes.
func hide(pixels, mask []byte) {
	for i := range len(pixels) / 4 {
		if mask[i] == 0 {
			clear(pixels[4*i : 4*i+4])
		}
	}
}

// add adds a row of pixels to the sums of its boxes.
func add(sums []uint32, row []byte, factor int) {
	for i, in := 0, 0; i < len(row); i += 4 {
		s := sums[in : in+4 : in+4]
		s[0] += uint32(row[i])
		s[1] += uint32(row[i+1])
		s[2] += uint32(row[i+2])
		s[3] += uint32(row[i+3])
		if (i/4+1)%factor == 0 {
			in += 4
		}
	}
}

// mean writes the means of boxes of so many rows, and clears their sums.
func mean(sums []uint32, width, rows, factor int, to []byte) {
	for i := range len(sums) / 4 {
		n := uint32(rows * min(factor, width-i*factor))
		for c := range 4 {
			to[4*i+c] = byte((sums[4*i+c] + n/2) / n)
		}
	}
	clear(sums)
}
