package raster

import (
	"fmt"
	"image"
	"math"
)

// TileSize is the width and height of map tiles in pixels.
const TileSize = 256

// MaxZoom is the largest zoom of a tile.
const MaxZoom = 30

// latitudeLimit is the northern and southern limit of the tiled map.
const latitudeLimit = 85.0511287798066

// Tile draws the tile x, y of a web map (EPSG:3857, y counted from the north). Areas outside the
// raster are transparent. The error is why a raster has no tiles.
func (r *Raster) Tile(z, x, y int) (*image.NRGBA, error) {
	if r.undrawn != nil {
		return nil, r.undrawn
	}
	if z < 0 || z > MaxZoom || x < 0 || y < 0 || x >= 1<<z || y >= 1<<z {
		return nil, fmt.Errorf("there is no tile %d/%d/%d", z, x, y)
	}
	if r.extent.Outline == nil {
		return nil, r.extent.Reason
	}
	to := image.NewRGBA(image.Rect(0, 0, TileSize, TileSize))
	m := mercator{float64(x) * TileSize, float64(y) * TileSize, TileSize * math.Exp2(float64(z))}
	for turn := -1; turn <= 1; turn++ { // a raster across the date line is at both ends of the map
		if w := r.within(m, turn); !w.Empty() {
			if err := r.draw(to, w, m); err != nil {
				return nil, err
			}
		}
	}
	return straight(to), nil
}

// mercator converts longitude and latitude to the pixels of a tile.
type mercator struct{ left, top, world float64 }

func (m mercator) lonLat(i, j float64) (lon, lat float64) {
	return (m.left+i)/m.world*360 - 180, math.Atan(math.Sinh(math.Pi*(1-2*(m.top+j)/m.world))) * 180 / math.Pi
}

func (m mercator) pixel(lon, lat float64) (i, j float64) {
	lat = min(max(lat, -latitudeLimit), latitudeLimit) * math.Pi / 180
	return (lon+180)/360*m.world - m.left, (1-math.Asinh(math.Tan(lat))/math.Pi)/2*m.world - m.top
}

// within returns the part of a tile that may intersect the raster, shifted by full turns.
func (r *Raster) within(m mercator, turn int) image.Rectangle {
	i0, j0, i1, j1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range r.extent.Outline {
		i, j := m.pixel(p[0]+360*float64(turn), p[1])
		i0, j0, i1, j1 = min(i0, i), min(j0, j), max(i1, i), max(j1, j)
	}
	// Sides are curved between the points of the outline.
	bend := max(i1-i0, j1-j0) / 64
	limit := func(v float64) int { return int(min(max(v, 0), TileSize)) }
	return image.Rect(limit(math.Floor(i0-bend)), limit(math.Floor(j0-bend)), limit(math.Ceil(i1+bend)),
		limit(math.Ceil(j1+bend)))
}

// draw draws a part of a tile.
func (r *Raster) draw(to *image.RGBA, part image.Rectangle, m mercator) error {
	projected := r.project(part, m)
	positions := projected.positions
	w, h := float64(r.extent.Width), float64(r.extent.Height)
	u0, v0, u1, v1 := w, h, 0.0, 0.0
	var i, j, n float64
	for k, p := range positions {
		if p[0] >= 0 && p[0] < w && p[1] >= 0 && p[1] < h {
			u0, v0, u1, v1 = min(u0, p[0]), min(v0, p[1]), max(u1, p[0]), max(v1, p[1])
			i, j, n = i+float64(k%part.Dx()), j+float64(k/part.Dx()), n+1
		}
	}
	if n == 0 {
		return nil
	}
	stepX, stepY := projected.steps(i/n, j/n)
	if !(stepX > 0 && stepY > 0) || math.IsInf(stepX+stepY, 0) {
		return nil // the map is discontinuous there
	}
	// Use a level with pixels slightly smaller than the tile's, so that the averaged squares are not visible.
	l := r.levels[0]
	for _, other := range r.levels {
		if other.scaleX <= stepX/1.5 && other.scaleY <= stepY/1.5 {
			l = other
		}
	}
	factor := 1
	for rest := min(stepX/l.scaleX, stepY/l.scaleY); rest >= 4 && factor < maxFactor; rest /= 2 {
		factor *= 2 // no such overview exists
	}
	s := sampler{to: to, scaleX: l.scaleX * float64(factor), scaleY: l.scaleY * float64(factor)}
	s.stepX, s.stepY = stepX/s.scaleX, stepY/s.scaleY
	s.nearest = r.table && s.stepX < 1 && s.stepY < 1
	margin := math.Ceil(max(1, s.stepX, s.stepY)) + 1
	whole := func(v, scale, by float64) int { return factor * int(math.Floor(v/scale)+by) }
	source := window{whole(u0, s.scaleX, -margin), whole(v0, s.scaleY, -margin), whole(u1, s.scaleX, margin+1),
		whole(v1, s.scaleY, margin+1)}.clip(l.page)
	var err error
	if s.from, err = l.read(source, factor); err != nil {
		return err
	}
	s.left, s.top = float64(source.x0/factor), float64(source.y0/factor)
	for k, p := range positions {
		if p[0] >= 0 && p[0] < w && p[1] >= 0 && p[1] < h {
			s.sample(part.Min.X+k%part.Dx(), part.Min.Y+k/part.Dx(), p[0]/s.scaleX-s.left, p[1]/s.scaleY-s.top)
		}
	}
	return nil
}

// project finds the raster's pixel under the centre of each pixel of a part of a tile. Most are
// interpolated between exact ones.
func (r *Raster) project(part image.Rectangle, m mercator) *projection {
	p := &projection{r: r, m: m, part: part, positions: make([][2]float64, part.Dx()*part.Dy())}
	p.fill(0, 0, part.Dx()-1, part.Dy()-1)
	return p
}

type projection struct {
	r         *Raster
	m         mercator
	part      image.Rectangle
	positions [][2]float64
}

func (p *projection) exact(i, j int) [2]float64 {
	lon, lat := p.m.lonLat(float64(p.part.Min.X+i)+0.5, float64(p.part.Min.Y+j)+0.5)
	u, v := p.r.frame.pixel(lon, lat)
	return [2]float64{u, v}
}

// tolerance is the largest error of an interpolated position, in pixels of the tile.
const tolerance = 0.05

// fill computes the positions of a rectangle, both ends included: from its corners if that is
// accurate enough at its middle, else from its quarters.
func (p *projection) fill(i0, j0, i1, j1 int) {
	a, b, c, d := p.exact(i0, j0), p.exact(i1, j0), p.exact(i0, j1), p.exact(i1, j1)
	w, h := i1-i0, j1-j0
	between := func(i, j int) (u, v float64) {
		x, y := float64(i-i0)/max(1, float64(w)), float64(j-j0)/max(1, float64(h))
		mix := func(k int) float64 {
			return (a[k]*(1-x)+b[k]*x)*(1-y) + (c[k]*(1-x)+d[k]*x)*y
		}
		return mix(0), mix(1)
	}
	good := w <= 1 && h <= 1
	if !good {
		// The size of a pixel of the tile in pixels of the raster.
		step := max(math.Hypot(d[0]-a[0], d[1]-a[1]), math.Hypot(c[0]-b[0], c[1]-b[1])) / math.Hypot(float64(w), float64(h))
		good = true
		for _, at := range [][2]int{{i0 + w/2, j0 + h/2}, {i0 + w/2, j0}, {i0, j0 + h/2}, {i0 + w/2, j1}, {i1, j0 + h/2}} {
			u, v := between(at[0], at[1])
			e := p.exact(at[0], at[1])
			if !(math.Hypot(u-e[0], v-e[1]) <= tolerance*step) { // NaN is not accurate
				good = false
				break
			}
		}
	}
	if !good {
		i, j := i0+w/2, j0+h/2
		p.fill(i0, j0, i, j)
		if w > 0 {
			p.fill(min(i+1, i1), j0, i1, j)
		}
		if h > 0 {
			p.fill(i0, min(j+1, j1), i, j1)
		}
		if w > 0 && h > 0 {
			p.fill(min(i+1, i1), min(j+1, j1), i1, j1)
		}
		return
	}
	for j := j0; j <= j1; j++ {
		for i := i0; i <= i1; i++ {
			u, v := between(i, j)
			p.positions[j*p.part.Dx()+i] = [2]float64{u, v}
		}
	}
}

// steps returns the distance, in pixels of the raster across and down, between adjacent pixels of
// the tile at i, j.
func (p *projection) steps(i, j float64) (x, y float64) {
	at := func(di, dj float64) [2]float64 {
		lon, lat := p.m.lonLat(float64(p.part.Min.X)+i+0.5+di, float64(p.part.Min.Y)+j+0.5+dj)
		u, v := p.r.frame.pixel(lon, lat)
		return [2]float64{u, v}
	}
	const d = 1.0 / 16
	left, right, up, down := at(-d, 0), at(d, 0), at(0, -d), at(0, d)
	x = math.Hypot(right[0]-left[0], down[0]-up[0]) / (2 * d)
	y = math.Hypot(right[1]-left[1], down[1]-up[1]) / (2 * d)
	return x, y
}
