package geodesic

import "math"

// Inverse returns the geodesic from point 1 to point 2.
func Inverse(lat1, lon1, lat2, lon2 float64) Line {
	// Transform the problem so that point 1 is the one farther from the equator, in
	// the south, and point 2 is east of it (fig. 1 and sec. 4).
	lat1, lat2 = rounded(lat1), rounded(lat2)
	east := math.Remainder(lon2-lon1, 360)
	lonSign, latSign, swap := 1.0, 1.0, false
	if east < 0 {
		east, lonSign = -east, -1
	}
	if math.Abs(lat1) < math.Abs(lat2) {
		lat1, lat2, lonSign, swap = lat2, lat1, -lonSign, true
	}
	if lat1 > 0 {
		lat1, lat2, latSign = -lat1, -lat2, -1
	}
	t := triangle{}
	t.sin1, t.cos1 = reduced(lat1)
	t.sin2, t.cos2 = reduced(lat2)
	if lat1 == 0 {
		t.sin1 = math.Copysign(0, -1) // the line begins south of the equator
	}
	if t.sin2 == -t.sin1 || lat2 == lat1 {
		t.cos2 = t.cos1 // as in exact arithmetic
	}
	t.east = east * math.Pi / 180
	t.solve(lat1 == -90, east)

	l := Line{Metres: t.metres, Below: t.below() * lonSign * latSign}
	if swap {
		l.Below = -l.Below
		t.sinA1, t.sinA2, t.cosA1, t.cosA2 = t.sinA2, t.sinA1, t.cosA2, t.cosA1
		lonSign = -lonSign // restore the sign of the longitude difference
		// The points are swapped, so the direction is reversed.
		t.sinA1, t.sinA2 = lonSign*t.sinA1, lonSign*t.sinA2
		t.cosA1, t.cosA2 = -latSign*t.cosA1, -latSign*t.cosA2
		l.Start, l.End = turn(t.sinA1, t.cosA1), turn(t.sinA2, t.cosA2)
		return l
	}
	l.Start, l.End = turn(lonSign*t.sinA1, latSign*t.cosA1), turn(lonSign*t.sinA2, latSign*t.cosA2)
	return l
}

// rounded sets latitudes within a picometre of the equator to 0, because lines there would lose precision.
func rounded(latitude float64) float64 {
	const near = 1.0 / 16
	if size := math.Abs(latitude); size < near {
		return math.Copysign(near-(near-size), latitude)
	}
	return latitude
}

func turn(sin, cos float64) float64 { return degrees(math.Atan2(sin+0, cos)) }

// triangle is the triangle of two points and a pole on the auxiliary sphere.
type triangle struct {
	sin1, cos1, sin2, cos2     float64 // of the reduced latitudes
	sinA1, cosA1, sinA2, cosA2 float64 // of the azimuths
	east                       float64 // λ12 in radians
	sphere                     float64 // ω12
	metres                     float64
	arc                        arc
	meridian                   bool
}

func (t *triangle) solve(pole bool, east float64) {
	switch {
	case pole || east == 0 || east == 180: // along a meridian
		t.meridian = true
		t.sinA1, t.cosA1 = sincos(east)
		t.sinA2, t.cosA2 = 0, 1
		t.bend(0)
		t.sphere = t.east
	case t.sin1 == 0 && t.sin2 == 0 && t.east <= (1-Flattening)*math.Pi: // along the equator
		t.sinA1, t.cosA1, t.sinA2, t.cosA2 = 1, 0, 1, 0
		t.sphere = t.east / (1 - Flattening)
		t.metres = Equator * t.east
		t.arc = arc{sin0: 1, len: t.sphere}
		return
	default:
		t.azimuth()
	}
	t.metres = t.arc.metres()
}

// azimuth determines the azimuth at point 1 of the line through point 2. The longitude increases
// with it, from 0 in the north to half a turn in the south. It is measured from the east, which is
// precise for lines close to the equator.
func (t *triangle) azimuth() {
	miss := func(a float64) float64 {
		t.cosA1, t.sinA1 = math.Sincos(-a)
		return t.meet() - t.east
	}
	low, high := -math.Pi/2, math.Pi/2
	lowMiss, highMiss := -t.east, math.Pi-t.east
	// The solution on the sphere is close, unless the points are nearly antipodal.
	sin, cos := math.Sincos(t.east / math.Sqrt(1-e2*t.cos1*t.cos1))
	guess := math.Atan2(t.sin1*t.cos2*cos-t.cos1*t.sin2, sin*t.cos2)
	if from, to := guess-0.01, guess+0.01; from > low && to < high {
		if a, b := miss(from), miss(to); a < 0 && b > 0 {
			low, high, lowMiss, highMiss = from, to, a, b
		}
	}
	miss(root(low, high, lowMiss, highMiss, miss))
}

// meet follows the line with the azimuth from point 1 to the latitude of point 2 and returns the
// longitude difference (sec. 4, the hybrid problem).
func (t *triangle) meet() float64 {
	sin0 := t.sinA1 * t.cos1
	t.sinA2, t.cosA2 = t.sinA1, math.Abs(t.cosA1)
	if t.cos2 != t.cos1 || math.Abs(t.sin2) != -t.sin1 {
		t.sinA2 = sin0 / t.cos2
		// eq. 45, without loss of precision.
		more := (t.sin1 - t.sin2) * (t.sin1 + t.sin2)
		if t.cos1 < -t.sin1 {
			more = (t.cos2 - t.cos1) * (t.cos1 + t.cos2)
		}
		t.cosA2 = math.Sqrt(math.Max(0, t.cosA1*t.cos1*t.cosA1*t.cos1+more)) / t.cos2
	}
	t.bend(sin0)
	// ω1 and ω2; the same angle for both keeps the difference precise.
	s1, c1, s2, c2 := sin0*t.sin1, t.cosA1*t.cos1, sin0*t.sin2, t.cosA2*t.cos2
	t.sphere = math.Atan2(math.Max(0, c1*s2-s1*c2), c1*c2+s1*s2)
	return t.sphere - t.arc.lag()
}

// bend computes the arc from the azimuths.
func (t *triangle) bend(sin0 float64) {
	t.arc = arc{sin0: sin0, cos0: math.Hypot(t.cosA1, t.sinA1*t.sin1)}
	t.arc.k2 = ep2 * t.arc.cos0 * t.arc.cos0
	c1, c2 := t.cosA1*t.cos1, t.cosA2*t.cos2
	t.arc.start = math.Atan2(t.sin1, c1)
	t.arc.len = math.Atan2(math.Max(0, c1*t.sin2-t.sin1*c2), c1*c2+t.sin1*t.sin2)
}

// root returns the zero of f between a, where f is negative, and b, where it is positive, to full
// precision (Chandrupatla 1997: bisection, or inverse quadratic interpolation where it is safe).
func root(a, b, fa, fb float64, f func(float64) float64) float64 {
	var c, fc float64
	step := 0.5
	for range 200 {
		x := a + step*(b-a)
		fx := f(x)
		if (fx > 0) == (fa > 0) {
			c, fc = a, fa
		} else {
			c, b, fc, fb = b, a, fb, fa
		}
		a, fa = x, fx
		best, fbest := a, fa
		if math.Abs(fb) < math.Abs(fa) {
			best, fbest = b, fb
		}
		tolerance := (2.3e-16*math.Abs(best) + 1e-40) / math.Abs(b-a)
		if tolerance > 0.5 || fbest == 0 {
			return best
		}
		xi, phi := (a-b)/(c-b), (fa-fb)/(fc-fb)
		step = 0.5
		if phi*phi < xi && (1-phi)*(1-phi) < 1-xi {
			step = fa/(fb-fa)*fc/(fb-fc) + (c-a)/(b-a)*fa/(fc-fa)*fb/(fc-fb)
		}
		step = math.Min(1-tolerance, math.Max(tolerance, step))
	}
	return a
}
