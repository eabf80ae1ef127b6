package raster

import (
	"encoding/binary"
	"math"
)

// painter converts samples to colours, with alpha premultiplied.
type painter struct {
	samples []int // samples it needs; the alpha channel is the last
	hasA    bool
	p       *page
	low     [3]float64
	factor  [3]float64 // from a value to 0 … 255
	colours int        // samples that are colours: 1 or 3
	ramp    *[256][4]uint8
	// tables map one-byte samples to colours.
	tables [3]*[256]uint8
}

// painter returns the painter for the level.
func (l *level) painter() (*painter, error) {
	s, err := l.r.colours()
	if err != nil {
		return nil, err
	}
	return newPainter(l.page, s), nil
}

func newPainter(p *page, s stretch) *painter {
	c := &painter{p: p, samples: p.shown(), colours: len(p.shown())}
	if p.alpha >= 0 {
		c.hasA, c.samples = true, append(c.samples, p.alpha)
	}
	switch {
	case p.photometric == paletted:
		c.ramp = &[256][4]uint8{}
		copy(c.ramp[:], p.palette)
		for i := len(p.palette); i < 256; i++ {
			c.ramp[i] = [4]uint8{0, 0, 0, 255}
		}
	case c.colours == 1 && (p.bits > 8 || p.format != unsigned):
		c.ramp = &Elevation
	case c.colours == 1:
		c.ramp = &greys
	}
	for i := range c.colours {
		c.low[i], c.factor[i] = 0, 1
		if i < len(s.low) && !p.painted {
			c.low[i] = s.low[i]
			c.factor[i] = 255 / (s.high[i] - s.low[i])
		}
		if p.photometric == whiteIsZero && !p.painted {
			c.low[i], c.factor[i] = s.high[i], -c.factor[i]
		}
		if p.sampleBytes() == 1 && p.format == unsigned {
			c.tables[i] = &[256]uint8{}
			for v := range 256 {
				c.tables[i][v] = level8((float64(v) - c.low[i]) * c.factor[i])
			}
		}
	}
	return c
}

// shown lists the samples to show: one, or the first three.
func (p *page) shown() []int {
	var list []int
	for i := 0; i < p.samples && len(list) < 3; i++ {
		if i != p.alpha {
			list = append(list, i)
		}
	}
	if len(list) == 2 || p.photometric == paletted {
		list = list[:1]
	}
	return list
}

func level8(v float64) uint8 { return uint8(math.Round(min(max(v, 0), 255))) }

// paint paints a row of pixels.
func (c *painter) paint(values, to []byte) {
	p, n, size := c.p, len(c.samples), c.p.sampleBytes()
	if p.painted {
		copy(to, values)
		return
	}
	order := p.order()
	var alpha byte = 255
	for i, at := 0, 0; i+4 <= len(to); i, at = i+4, at+n*size {
		px := to[i : i+4 : i+4]
		if c.hasA {
			if alpha = c.alphaOf(values[at+(n-1)*size:], order); alpha == 0 {
				clear(px)
				continue
			}
		}
		empty := true
		for s := range c.colours {
			var v float64
			if c.tables[s] != nil {
				b := values[at+s]
				px[s] = c.tables[s][b]
				if p.noData == nil {
					empty = false
					continue
				}
				v = float64(b)
			} else {
				v = p.value(values[at+s*size:], order)
				px[s] = level8((v - c.low[s]) * c.factor[s])
			}
			empty = empty && p.isNoData(v)
		}
		if empty {
			clear(px)
			continue
		}
		switch {
		case c.ramp != nil:
			copy(px, c.ramp[px[0]][:])
		default:
			px[3] = 255
		}
		if alpha < 255 {
			px[3] = alpha
			if !p.premultiplied {
				for s := range 3 {
					px[s] = byte((uint32(px[s])*uint32(alpha) + 127) / 255)
				}
			}
		}
	}
}

// isNoData reports whether a value means no data.
func (p *page) isNoData(v float64) bool {
	if math.IsNaN(v) {
		return true
	}
	if p.noData == nil {
		return false
	}
	none := *p.noData
	// A type's limit is often written with too few digits.
	return v == none || p.format == floating && p.bits == 32 && float32(v) == float32(none)
}

func (c *painter) alphaOf(b []byte, order binary.ByteOrder) byte {
	switch {
	case c.p.sampleBytes() == 1 && c.p.bits == 8:
		return b[0]
	case c.p.bits == 16 && c.p.format == unsigned:
		return byte(order.Uint16(b) >> 8)
	case c.p.value(b, order) > 0:
		return 255
	}
	return 0
}

// value reads one sample.
func (p *page) value(b []byte, order binary.ByteOrder) float64 {
	switch p.sampleBytes() {
	case 1:
		if p.format == signed {
			return float64(int8(b[0]))
		}
		return float64(b[0])
	case 2:
		if p.format == signed {
			return float64(int16(order.Uint16(b)))
		}
		return float64(order.Uint16(b))
	case 4:
		switch p.format {
		case signed:
			return float64(int32(order.Uint32(b)))
		case floating:
			return float64(math.Float32frombits(order.Uint32(b)))
		}
		return float64(order.Uint32(b))
	}
	switch p.format {
	case signed:
		return float64(int64(order.Uint64(b)))
	case floating:
		return math.Float64frombits(order.Uint64(b))
	}
	return float64(order.Uint64(b))
}

// Colours of a single band, from its low to its high values: greys for pictures, Elevation for measurements.
var greys, Elevation [256][4]uint8

func init() {
	// From dark blue over green to yellow, of uniform lightness, distinguishable for the
	// colour-blind (the key points of matplotlib's viridis).
	points := [][3]float64{{68, 1, 84}, {71, 44, 122}, {59, 81, 139}, {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
		{92, 200, 99}, {170, 220, 50}, {253, 231, 37}}
	for i := range 256 {
		greys[i] = [4]uint8{uint8(i), uint8(i), uint8(i), 255}
		at := float64(i) / 255 * float64(len(points)-1)
		from := min(int(at), len(points)-2)
		for c := range 3 {
			Elevation[i][c] = level8(points[from][c] + (at-float64(from))*(points[from+1][c]-points[from][c]))
		}
		Elevation[i][3] = 255
	}
}
