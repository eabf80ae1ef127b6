package geodesic

import "math"

var (
	// authalic2 is the square of the authalic radius (eq. 60).
	authalic2 = Equator*Equator/2 + polar*polar/2*math.Atanh(math.Sqrt(e2))/math.Sqrt(e2)
	// Whole is the area of the ellipsoid in square metres.
	Whole = 4 * math.Pi * authalic2
)

// below returns the area between the line and the equator (eqs. 58 and 59).
func (t *triangle) below() float64 {
	area := authalic2 * t.excess()
	if a := t.arc; a.sin0 != 0 && a.cos0 != 0 {
		area -= e2 * Equator * Equator * a.cos0 * a.sin0 / 2 * integrate(a.start, a.len, func(sin float64) float64 {
			return slope(ep2, a.k2*sin*sin) * sin
		})
	}
	return area
}

// excess returns the difference of the azimuths.
func (t *triangle) excess() float64 {
	sin, cos := math.Sincos(t.sphere)
	if !t.meridian && cos > -math.Sqrt2/2 && t.sin2-t.sin1 < 1.75 {
		// This is exact for short lines (eq. 63).
		up, d1, d2 := 1+cos, 1+t.cos1, 1+t.cos2
		return 2 * math.Atan2(sin*(t.sin1*d2+t.sin2*d1), up*(t.sin1*t.sin2+d1*d2))
	}
	s, c := t.sinA2*t.cosA1-t.cosA2*t.sinA1, t.cosA2*t.cosA1+t.sinA2*t.sinA1
	if s == 0 && c < 0 { // half a turn, on the line's side
		s = 1e-150 * t.cosA1
	}
	return math.Atan2(s, c)
}

// slope returns (t(x) - t(y)) / (x - y) for the function t of eq. 59, t(x) = x + sqrt(1/x + 1)
// asinh(sqrt(x)), by its series: x and y are below 0.007, and may be equal.
func slope(x, y float64) float64 {
	// sqrt(1/x + 1) asinh(sqrt(x)) = 1 + Σ (d(n) + d(n-1)) xⁿ,
	// d(n) = (-1)ⁿ (2n)!! / (2n+1)!!
	sum, d, power, mixed := 1.0, 1.0, 1.0, 1.0 // yⁿ⁻¹ and Σ xⁱ yⁿ⁻¹⁻ⁱ
	for n := 1.0; n <= 9; n++ {
		next := -d * 2 * n / (2*n + 1)
		sum += (next + d) * mixed
		d = next
		power *= y
		mixed = x*mixed + power
	}
	return sum
}

// Area returns the area in square metres of a ring of longitudes and latitudes, closed or not, with
// geodesics as edges. It is the smaller part of the ellipsoid, regardless of the ring's direction.
// A ring may enclose a pole.
func Area[P ~[2]float64](ring []P) float64 {
	sum, crossings := 0.0, 0
	eachEdge(ring, true, func(from, to [2]float64) {
		sum += Inverse(from[1], from[0], to[1], to[0]).Below
		crossings += transit(from[0], to[0])
	})
	if crossings&1 == 1 { // it encloses a pole
		if sum < 0 {
			sum += Whole / 2
		} else {
			sum -= Whole / 2
		}
	}
	sum = math.Abs(math.Remainder(sum, Whole))
	return math.Min(sum, Whole-sum)
}

// Length returns the length in metres of a line of longitudes and latitudes.
func Length[P ~[2]float64](line []P) float64 {
	sum := 0.0
	eachEdge(line, false, func(from, to [2]float64) { sum += Inverse(from[1], from[0], to[1], to[0]).Metres })
	return sum
}

func eachEdge[P ~[2]float64](points []P, closed bool, f func(from, to [2]float64)) {
	for i := 1; i < len(points); i++ {
		f(points[i-1], points[i])
	}
	if n := len(points); closed && n > 1 && points[0] != points[n-1] {
		f(points[n-1], points[0])
	}
}

// transit returns 1 or -1 for an edge that crosses the prime meridian eastwards or
// westwards, else 0.
func transit(from, to float64) int {
	east := math.Remainder(to-from, 360)
	from, to = math.Remainder(from, 360), math.Remainder(to, 360)
	switch {
	case east > 0 && (from < 0 && to >= 0 || from > 0 && to == 0):
		return 1
	case east < 0 && from >= 0 && to < 0:
		return -1
	}
	return 0
}
