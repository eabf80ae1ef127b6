package formats

import (
	"context"
	"errors"
	"image"
	"image/color"
	"math"

	"github.com/paulmach/orb"
	"golang.org/x/image/vector"

	shapes "transect/client/formats/vector"
)

// drawVector draws the features of a vector file: areas filled, lines and points in a darker tone.
func drawVector(ctx context.Context, f *file, side int) (image.Image, error) {
	l, err := shapes.Open(ctx, f.File, f.beside...)
	if err != nil {
		return nil, err
	}
	var b box
	if err := l.Each(ctx, func(g orb.Geometry) error { b.addGeometry(g); return nil }); err != nil {
		return nil, err
	}
	if b.empty() {
		return nil, errors.New("it has no shapes")
	}
	wide := 1.0 // a degree of longitude is shorter than one of latitude
	if degrees := l.System != nil && l.System.Geographic ||
		l.System == nil && b.low[0] >= -360 && b.high[0] <= 360 && b.low[1] >= -90 && b.high[1] <= 90; degrees {
		wide = max(0.1, math.Cos((b.low[1]+b.high[1])/2*math.Pi/180))
	}
	border := 4.0
	if side < 64 {
		border = 1
	}
	v := newView(b.low[0]*wide, b.low[1], b.high[0]*wide, b.high[1], max(1, side-2*int(border)))
	// Centre a single point, or a line along a meridian.
	w, h := min(side, max(v.w+2*int(border), side/3)), min(side, max(v.h+2*int(border), side/3))
	left, top := float64(w-v.w)/2, float64(h-v.h)/2
	release, err := reserve(ctx, int64(w)*int64(h)*12)
	if err != nil {
		return nil, err
	}
	defer release()
	p := &pen{fill: vector.NewRasterizer(w, h), line: vector.NewRasterizer(w, h),
		thick: max(0.6, float32(side)/512), radius: max(1.5, float32(side)/128),
		at: func(q orb.Point) (float32, float32) {
			x, y := v.at(q[0]*wide, q[1])
			return clamp(x+left, w), clamp(y+top, h)
		}}
	if err := l.Each(ctx, func(g orb.Geometry) error { p.draw(g); return nil }); err != nil {
		return nil, err
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	p.fill.Draw(m, m.Bounds(), image.NewUniform(fillColour), image.Point{})
	p.line.Draw(m, m.Bounds(), image.NewUniform(lineColour), image.Point{})
	return m, nil
}

// Colours that are visible on light and on dark pages.
var (
	fillColour = color.NRGBA{46, 134, 193, 90}
	lineColour = color.NRGBA{30, 120, 190, 255}
)

// clamp moves positions that are far outside, or NaN, close to the picture.
func clamp(v float64, size int) float32 {
	if v != v {
		return 0
	}
	return float32(min(max(v, -float64(size)), 2*float64(size)))
}

// pen draws geometries. All areas share one mask and all lines another, so that the time per
// feature does not depend on the size of the picture.
type pen struct {
	fill, line *vector.Rasterizer
	thick      float32
	radius     float32 // of points
	at         func(orb.Point) (x, y float32)
}

func (p *pen) draw(g orb.Geometry) {
	switch g := g.(type) {
	case orb.Point:
		p.dot(g)
	case orb.MultiPoint:
		for _, q := range g {
			p.dot(q)
		}
	case orb.LineString:
		p.path(g)
	case orb.Ring:
		p.path(orb.LineString(g))
	case orb.MultiLineString:
		for _, l := range g {
			p.path(l)
		}
	case orb.Polygon:
		p.area(g)
	case orb.MultiPolygon:
		for _, a := range g {
			p.area(a)
		}
	case orb.Collection:
		for _, m := range g {
			p.draw(m)
		}
	}
}

// dot draws a small octagon.
func (p *pen) dot(q orb.Point) {
	x, y := p.at(q)
	r := p.radius
	p.line.MoveTo(x+r, y)
	for _, d := range [][2]float32{{0.7, 0.7}, {0, 1}, {-0.7, 0.7}, {-1, 0}, {-0.7, -0.7}, {0, -1}, {0.7, -0.7}} {
		p.line.LineTo(x+d[0]*r, y+d[1]*r)
	}
	p.line.ClosePath()
}

// path draws a line as quadrilaterals of one orientation, which add up where they overlap. It skips
// steps within a pixel.
func (p *pen) path(line orb.LineString) {
	if len(line) == 0 {
		return
	}
	x, y := p.at(line[0])
	drawn := false
	for i, q := range line[1:] {
		tx, ty := p.at(q)
		length := float32(math.Hypot(float64(tx-x), float64(ty-y)))
		if length < 0.5 && (i+2 < len(line) || drawn) {
			continue
		}
		drawn = true
		if length == 0 {
			length, tx = 1, tx+1
		}
		dx, dy := (tx-x)/length*p.thick, (ty-y)/length*p.thick
		p.line.MoveTo(x-dy, y+dx)
		p.line.LineTo(x+dy, y-dx)
		p.line.LineTo(tx+dy, ty-dx)
		p.line.LineTo(tx-dy, ty+dx)
		p.line.ClosePath()
		x, y = tx, ty
	}
}

// area fills a polygon and draws its rings.
func (p *pen) area(a orb.Polygon) {
	if len(a) == 0 {
		return
	}
	for i, ring := range a {
		if len(ring) < 3 {
			continue
		}
		backwards := (ring.Orientation() == orb.CCW) != (i == 0) // holes run opposite to their ring
		for j := range ring {
			if backwards {
				j = len(ring) - 1 - j
			}
			x, y := p.at(ring[j])
			if j == 0 && !backwards || backwards && j == len(ring)-1 {
				p.fill.MoveTo(x, y)
			} else {
				p.fill.LineTo(x, y)
			}
		}
		p.fill.ClosePath()
		p.path(orb.LineString(ring))
	}
}
