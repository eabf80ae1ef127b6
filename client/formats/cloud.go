package formats

import (
	"context"
	"errors"
	"image"
	"image/color"
	"math"
	"slices"

	"transect/client/formats/pointcloud"
	"transect/client/formats/raster"
)

const (
	maxPoints   = 8_000_000 // most points of a cloud to draw
	firstPoints = 200_000   // sampled first, to find the extent of the others
)

// drawCloud shows a point cloud from above, coloured by height.
func drawCloud(ctx context.Context, f *file, side int) (image.Image, error) {
	cloud, err := pointcloud.Open(f.Reader(ctx), f.Size)
	if err != nil {
		return nil, err
	}
	return drawPoints(func(limit int64, visit func(pointcloud.Point)) error {
		for p, err := range cloud.Sample(ctx, limit) {
			if err != nil {
				return err
			}
			visit(p)
		}
		return nil
	}, side)
}

// drawPoints draws points; sample visits about limit of them, the same each time.
func drawPoints(sample func(limit int64, visit func(pointcloud.Point)) error, side int) (image.Image, error) {
	var axes [3][]float64
	if err := sample(firstPoints, func(p pointcloud.Point) {
		for i, v := range []float64{p.X, p.Y, p.Z} {
			axes[i] = append(axes[i], v)
		}
	}); err != nil {
		return nil, err
	}
	if len(axes[0]) == 0 {
		return nil, errors.New("it has no points")
	}
	var low, high [3]float64
	for i, values := range axes {
		slices.Sort(values)
		low[i], high[i] = span(values)
	}
	v := newView(low[0], low[1], high[0], high[1], side)
	tops := newHeights(v.w, v.h)
	n := 0
	err := sample(maxPoints, func(p pointcloud.Point) {
		n++
		x, y := v.at(p.X, p.Y)
		tops.raise(int(x), int(y), float32(p.Z))
	})
	if err != nil {
		return nil, err
	}
	// Draw fewer points larger, so that they cover the ground.
	tops.spread(int(math.Sqrt(float64(v.w*v.h)/float64(n)) * 0.7))
	low[2], high[2] = axes[2][len(axes[2])*2/100], axes[2][len(axes[2])*98/100]
	return tops.draw(low[2], high[2], v.scale), nil
}

// span returns the range of sorted values, without far outliers.
func span(values []float64) (low, high float64) {
	n := len(values)
	low, high = values[n/1000], values[n-1-n/1000]
	margin := (high - low) / 5
	first, _ := slices.BinarySearch(values, low-margin)
	after, _ := slices.BinarySearch(values, math.Nextafter(high+margin, math.Inf(1)))
	return values[first], values[after-1]
}

// view maps coordinates to a picture with north at the top.
type view struct {
	w, h  int
	x, y  float64 // upper left corner
	scale float64 // pixels a unit
}

// newView fits a box into a square of side pixels. A box without width or height becomes a narrow one.
func newView(x0, y0, x1, y1 float64, side int) view {
	longest := max(x1-x0, y1-y0)
	if longest <= 0 || math.IsInf(longest, 0) || math.IsNaN(longest) {
		longest = 1
	}
	scale := float64(side) / longest
	w, h := min(side, max(1, int(math.Ceil((x1-x0)*scale)))), min(side, max(1, int(math.Ceil((y1-y0)*scale))))
	return view{w, h, x0, y1, scale}
}

// at returns the pixel coordinates of a position.
func (v view) at(x, y float64) (px, py float64) {
	px, py = (x-v.x)*v.scale, (v.y-y)*v.scale
	if px == float64(v.w) { // the border is part of the box
		px = math.Nextafter(px, 0)
	}
	if py == float64(v.h) {
		py = math.Nextafter(py, 0)
	}
	return px, py
}

// heights is the highest value at each pixel, NaN without one.
type heights struct {
	w, h   int
	values []float32
}

var nothing = float32(math.NaN())

func newHeights(w, h int) *heights {
	g := &heights{w, h, make([]float32, w*h)}
	for i := range g.values {
		g.values[i] = nothing
	}
	return g
}

func (g *heights) raise(x, y int, z float32) {
	if x < 0 || y < 0 || x >= g.w || y >= g.h {
		return
	}
	if v := &g.values[y*g.w+x]; !(*v >= z) {
		*v = z
	}
}

// spread sets pixels without a value to the highest value within a distance.
func (g *heights) spread(distance int) {
	distance = min(distance, 24)
	for _, stride := range []struct{ along, across, n, m int }{{1, g.w, g.w, g.h}, {g.w, 1, g.h, g.w}} {
		from := slices.Clone(g.values)
		for j := range stride.m {
			for i := range stride.n {
				at := j*stride.across + i*stride.along
				if !math.IsNaN(float64(from[at])) {
					continue
				}
				for d := -distance; d <= distance; d++ {
					if i+d < 0 || i+d >= stride.n {
						continue
					}
					if z := from[at+d*stride.along]; z == z && !(g.values[at] >= z) {
						g.values[at] = z
					}
				}
			}
		}
	}
}

// draw colours heights between two values, with light from the north-west; scale is
// in pixels a unit of height.
func (g *heights) draw(low, high, scale float64) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, g.w, g.h))
	at := func(x, y int, z float32) float32 {
		if x < 0 || y < 0 || x >= g.w || y >= g.h || g.values[y*g.w+x] != g.values[y*g.w+x] {
			return z
		}
		return g.values[y*g.w+x]
	}
	for y := range g.h {
		for x := range g.w {
			z := g.values[y*g.w+x]
			if z != z {
				continue
			}
			slope := float64(at(x+1, y+1, z)-at(x-1, y-1, z)) * scale / 4
			m.SetNRGBA(x, y, shaded(ramp((float64(z)-low)/(high-low)), 1+0.35*math.Tanh(slope)))
		}
	}
	return m
}

// ramp returns the colour of a value from 0 to 1.
func ramp(t float64) color.NRGBA {
	if !(t > 0) {
		t = 0
	}
	c := raster.Elevation[int(min(t, 1)*255)]
	return color.NRGBA{c[0], c[1], c[2], c[3]}
}

// shaded returns a colour under light.
func shaded(c color.NRGBA, light float64) color.NRGBA {
	part := func(v uint8) uint8 { return uint8(min(255, max(0, float64(v)*light))) }
	return color.NRGBA{part(c.R), part(c.G), part(c.B), c.A}
}
