package raster

import (
	"image"
	"math"
)

// sampler draws pixels of a tile from a window of the raster.
type sampler struct {
	to, from       *image.RGBA
	left, top      float64 // of the window, in its pixels
	scaleX, scaleY float64 // pixels of the raster per pixel of the window
	stepX, stepY   float64 // pixels of the window per pixel of the tile
	nearest        bool
}

// maxTaps limits the pixels averaged for one, in each direction.
const maxTaps = 32

// weights returns the weights of the pixels around a position: a triangle as wide as a pixel of the
// tile, but at least as wide as one of the window.
func weights(at, step float64, limit int, to *[maxTaps]float64) (first, n int) {
	radius := min(max(1, step), maxTaps/2-1)
	first = max(0, int(math.Ceil(at-radius-0.5)))
	last := min(limit-1, int(math.Floor(at+radius-0.5)))
	var sum float64
	for k := first; k <= last; k++ {
		w := max(0, 1-math.Abs(float64(k)+0.5-at)/radius)
		to[n] = w
		sum += w
		n++
	}
	if sum == 0 {
		return min(max(0, int(at)), limit-1), 0
	}
	for k := range n {
		to[k] /= sum
	}
	return first, n
}

// sample draws one pixel of the tile from a position in the window.
func (s *sampler) sample(i, j int, u, v float64) {
	w, h := s.from.Rect.Dx(), s.from.Rect.Dy()
	px := s.to.Pix[s.to.PixOffset(i, j):][:4]
	var wx, wy [maxTaps]float64
	x, nx := weights(u, s.stepX, w, &wx)
	y, ny := weights(v, s.stepY, h, &wy)
	if s.nearest || nx == 0 || ny == 0 {
		x, y = min(max(0, int(u)), w-1), min(max(0, int(v)), h-1)
		copy(px, s.from.Pix[s.from.PixOffset(x, y):][:4])
		return
	}
	var sum [4]float64
	for dy := range ny {
		row := s.from.Pix[(y+dy)*s.from.Stride+4*x:][:4*nx]
		for dx := range nx {
			weight := wy[dy] * wx[dx]
			p := row[4*dx : 4*dx+4 : 4*dx+4]
			sum[0] += weight * float64(p[0])
			sum[1] += weight * float64(p[1])
			sum[2] += weight * float64(p[2])
			sum[3] += weight * float64(p[3])
		}
	}
	for c := range 4 {
		px[c] = uint8(sum[c] + 0.5)
	}
}

// straight divides colours by their alpha.
func straight(m *image.RGBA) *image.NRGBA {
	to := &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
	for i := 0; i < len(to.Pix); i += 4 {
		px := to.Pix[i : i+4 : i+4]
		if a := uint32(px[3]); a != 0 && a != 255 {
			for c := range 3 {
				px[c] = uint8(min(255, (uint32(px[c])*255+a/2)/a))
			}
		}
	}
	return to
}
