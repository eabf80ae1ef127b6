package geodesic

import (
	"math"
	"sync"
)

// rule is a Gauss-Legendre rule for the interval from -1 to 1.
type rule struct{ nodes, weights []float64 }

// The integrands are analytic, and their nearest singularity is 3.2 from the real axis, so that few
// nodes give full precision.
var (
	short = sync.OnceValue(func() rule { return gaussLegendre(6) })  // up to longestShort
	long  = sync.OnceValue(func() rule { return gaussLegendre(16) }) // up to half a turn
)

const longestShort = 0.3

// gaussLegendre computes the roots of the Legendre polynomial of degree n by
// Newton's method, and their weights.
func gaussLegendre(n int) rule {
	r := rule{make([]float64, n), make([]float64, n)}
	for i := range n {
		x := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		var slope float64
		for range 10 {
			p, before := 1.0, 0.0
			for k := range n {
				p, before = (float64(2*k+1)*x*p-float64(k)*before)/float64(k+1), p
			}
			slope = float64(n) * (x*p - before) / (x*x - 1)
			x -= p / slope
		}
		r.nodes[i], r.weights[i] = x, 2/((1-x*x)*slope*slope)
	}
	return r
}

// integrate returns the integral of f(sin σ) over an arc from start.
func integrate(start, arc float64, f func(sin float64) float64) float64 {
	r, pieces := long(), 1.0
	switch size := math.Abs(arc); {
	case size <= longestShort:
		r = short()
	case size > math.Pi:
		pieces = math.Ceil(size / math.Pi)
	}
	half, sum := arc/pieces/2, 0.0
	for p := 0.0; p < pieces; p++ {
		middle := start + (2*p+1)*half
		for i, x := range r.nodes {
			sum += r.weights[i] * f(math.Sin(middle+half*x))
		}
	}
	return sum * half
}
