package raster

import (
	"image"
	"math"

	"golang.org/x/image/draw"
)

// maxFactor is the largest factor that keeps the sums of a box within 32 bits.
const maxFactor = 4096

// Overview returns the complete raster as a picture of at most side pixels in each direction.
// Without overviews in the file it reads every pixel.
func (r *Raster) Overview(side int) (image.Image, error) {
	if r.undrawn != nil {
		return nil, r.undrawn
	}
	l := r.levels[0]
	for _, other := range r.levels {
		if max(other.width, other.height) >= side {
			l = other
		}
	}
	longest := max(l.width, l.height)
	factor := min(maxFactor, max(1, longest/max(1, side)))
	small, err := l.read(window{0, 0, l.width, l.height}, factor)
	if err != nil || max(small.Rect.Dx(), small.Rect.Dy()) <= side {
		return small, err
	}
	full := r.levels[0]
	ratio := float64(side) / float64(max(full.width, full.height))
	fit := func(n int) int { return int(math.Ceil(float64(n) * ratio)) }
	scaled := image.NewRGBA(image.Rect(0, 0, fit(full.width), fit(full.height)))
	draw.BiLinear.Scale(scaled, scaled.Rect, small, small.Rect, draw.Src, nil)
	return scaled, nil
}
