package raster

import (
	"math"
	"slices"
)

// stretch is the range of values of each shown band that is spread over all colours; empty when
// values already are colours.
type stretch struct{ low, high []float64 }

const (
	lowPercentile  = 0.02
	highPercentile = 0.98
	// A level of at most wholeSample pixels is sampled completely, a larger one in sampleGrid x
	// sampleGrid squares.
	wholeSample  = 1 << 20
	sampleGrid   = 16
	sampleSquare = 64
)

// colours returns the range of values, for each shown band, that is spread over all
// colours: from the 2nd to the 98th percentile. It is empty for rasters whose values
// are colours.
func (r *Raster) colours() (stretch, error) {
	r.stretching.Do(func() { r.stretch, r.unreadable = r.percentiles() })
	return r.stretch, r.unreadable
}

// percentiles computes the stretch from the smallest level that is large enough.
func (r *Raster) percentiles() (s stretch, err error) {
	full := r.levels[0]
	shown := full.shown()
	if full.photometric == paletted || len(shown) == 3 && full.bits == 8 && full.format == unsigned {
		return s, nil
	}
	l := full
	for _, other := range r.levels {
		if other.width*other.height >= wholeSample/4 {
			l = other
		}
	}
	found := make([][]float64, len(shown))
	for _, w := range l.sampled() {
		if err := l.collect(w, found); err != nil {
			return s, err
		}
	}
	for _, values := range found {
		low, high := 0.0, 1.0
		if n := len(values); n > 0 {
			slices.Sort(values)
			low, high = values[int(lowPercentile*float64(n-1))], values[int(math.Ceil(highPercentile*float64(n-1)))]
		}
		if !(high > low) {
			high = low + 1
		}
		s.low, s.high = append(s.low, low), append(s.high, high)
	}
	return s, nil
}

// sampled lists the windows to sample, from the top down.
func (l *level) sampled() (list []window) {
	if l.width*l.height <= wholeSample {
		for y := 0; y < l.height; y += sampleSquare {
			list = append(list, window{0, y, l.width, y + sampleSquare}.clip(l.page))
		}
		return list
	}
	for i := range sampleGrid {
		for j := range sampleGrid {
			x := (2*j + 1) * l.width / (2 * sampleGrid)
			y := (2*i + 1) * l.height / (2 * sampleGrid)
			w := window{x - sampleSquare/2, y - sampleSquare/2, x + sampleSquare/2, y + sampleSquare/2}
			list = append(list, w.clip(l.page))
		}
	}
	return list
}

// collect appends the values of a window, except for no data.
func (l *level) collect(w window, found [][]float64) error {
	samples := l.shown()
	if l.alpha >= 0 {
		samples = append(samples, l.alpha)
	}
	size, n := l.sampleBytes(), len(samples)
	values := make([]byte, w.width()*w.height()*n*size)
	if err := l.values(w, samples, values); err != nil {
		return err
	}
	masks := make([]byte, w.width()*w.height())
	if l.mask != nil {
		if err := l.mask.values(w, []int{0}, masks); err != nil {
			return err
		}
	}
	order := l.order()
	for i := range w.width() * w.height() {
		at := values[i*n*size:]
		if l.mask != nil && masks[i] == 0 || l.alpha >= 0 && l.value(at[(n-1)*size:], order) == 0 {
			continue
		}
		for s := range found {
			if v := l.value(at[s*size:], order); !l.isNoData(v) && !math.IsInf(v, 0) {
				found[s] = append(found[s], v)
			}
		}
	}
	return nil
}
