package crs

import "math"

// transverse is the transverse Mercator projection by Krüger's series, to the fourth power of the third
// flattening: exact to less than a millimetre within 30 degrees of the central meridian (Karney 2011,
// Transverse Mercator with an accuracy of a few nanometers).
type transverse struct {
	e, radius, north float64 // radius includes the scale
	alpha, beta      [4]float64
}

func newTransverse(a, e float64, p parameters) projection { return krueger(a, e, p) }

func krueger(a, e float64, p parameters) *transverse {
	f := 1 - math.Sqrt(1-e*e)
	n := f / (2 - f)
	n2, n3, n4 := n*n, n*n*n, n*n*n*n
	t := &transverse{
		e: e, radius: p.scale * a / (1 + n) * (1 + n2/4 + n4/64),
		alpha: [4]float64{n/2 - n2*2/3 + n3*5/16 + n4*41/180, n2*13/48 - n3*3/5 + n4*557/1440, n3*61/240 - n4*103/140,
			n4 * 49561 / 161280},
		beta: [4]float64{n/2 - n2*2/3 + n3*37/96 - n4/360, n2/48 + n3/15 - n4*437/1440, n3*17/480 - n4*37/840,
			n4 * 4397 / 161280},
	}
	_, t.north = t.forward(0, p.lat0*degree)
	return t
}

func (t *transverse) forward(lon, lat float64) (x, y float64) {
	tau := conformal(t.e, math.Tan(lat))
	sin, cos := math.Sincos(lon)
	xi, eta := math.Atan2(tau, cos), math.Asinh(sin/math.Hypot(tau, cos))
	y, x = xi, eta
	for i, a := range t.alpha {
		j := 2 * float64(i+1)
		s, c := math.Sincos(j * xi)
		y += a * s * math.Cosh(j*eta)
		x += a * c * math.Sinh(j*eta)
	}
	return t.radius * x, t.radius*y - t.north
}

func (t *transverse) inverse(x, y float64) (lon, lat float64) {
	xi, eta := (y+t.north)/t.radius, x/t.radius
	u, v := xi, eta
	for i, b := range t.beta {
		j := 2 * float64(i+1)
		s, c := math.Sincos(j * xi)
		u -= b * s * math.Cosh(j*eta)
		v -= b * c * math.Sinh(j*eta)
	}
	sin, cos := math.Sincos(u)
	sinh := math.Sinh(v)
	return math.Atan2(sinh, cos), math.Atan(geodetic(t.e, sin/math.Hypot(sinh, cos)))
}

// conformal converts the tangent of a latitude to the conformal latitude's.
func conformal(e, tau float64) float64 {
	root := math.Sqrt(1 + tau*tau)
	sigma := math.Sinh(e * math.Atanh(e*tau/root))
	return tau*math.Sqrt(1+sigma*sigma) - sigma*root
}

// geodetic inverts conformal.
func geodetic(e, tau float64) float64 {
	t := tau / (1 - e*e)
	for range 5 {
		c := conformal(e, t)
		d := (tau - c) / math.Sqrt(1+c*c) * (1 + (1-e*e)*t*t) / ((1 - e*e) * math.Sqrt(1+t*t))
		t += d
		if math.Abs(d) < 1e-12*math.Max(1, math.Abs(t)) {
			break
		}
	}
	return t
}

// meridian computes distances along a meridian from the equator.
type meridian struct{ t *transverse }

func newMeridian(a, e float64) meridian { return meridian{krueger(a, e, parameters{scale: 1})} }

func (m meridian) distance(lat float64) float64 {
	_, y := m.t.forward(0, lat)
	return y
}

func (m meridian) latitude(distance float64) float64 {
	_, lat := m.t.inverse(0, distance)
	return lat
}

// cylinder is the Mercator projection; web Mercator uses a sphere.
type cylinder struct{ a, e, scale float64 }

// newMercator accepts either a scale at the equator, or a parallel of true scale.
func newMercator(a, e float64, p parameters) projection {
	return cylinder{a, e, p.scale * parallel(e, p.lat1*degree)}
}

func newWebMercator(a, _ float64, _ parameters) projection { return cylinder{a, 0, 1} }

func (m cylinder) forward(lon, lat float64) (x, y float64) {
	return m.scale * m.a * lon, m.scale * m.a * math.Asinh(conformal(m.e, math.Tan(lat)))
}

func (m cylinder) inverse(x, y float64) (lon, lat float64) {
	return x / (m.scale * m.a), math.Atan(geodetic(m.e, math.Sinh(y/(m.scale*m.a))))
}

// equalCylinder is Lambert's equal-area cylindrical projection.
type equalCylinder struct{ a, e, scale float64 }

func newEqualCylinder(a, e float64, p parameters) projection {
	return equalCylinder{a, e, parallel(e, p.lat1*degree)}
}

func (m equalCylinder) forward(lon, lat float64) (x, y float64) {
	return m.a * m.scale * lon, m.a * authalic(m.e, lat) / (2 * m.scale)
}

func (m equalCylinder) inverse(x, y float64) (lon, lat float64) {
	return x / (m.a * m.scale), latitudeOf(m.e, 2*y*m.scale/m.a)
}

// cone is the common part of the conic projections: a longitude's angle is n times the longitude, and
// rho0 is the radius of the parallel of origin.
type cone struct{ n, rho0 float64 }

func (c cone) point(lon, rho float64) (x, y float64) {
	sin, cos := math.Sincos(c.n * lon)
	return rho * sin, c.rho0 - rho*cos
}

// polar returns longitude and radius; the radius has the sign of n.
func (c cone) polar(x, y float64) (lon, rho float64) {
	sign := math.Copysign(1, c.n)
	y = c.rho0 - y
	return math.Atan2(sign*x, sign*y) / c.n, sign * math.Hypot(x, y)
}

// parallel returns the radius of a parallel, relative to the equator's.
func parallel(e, lat float64) float64 {
	sin, cos := math.Sincos(lat)
	return cos / math.Sqrt(1-e*e*sin*sin)
}

// authalic returns the area from the equator to a latitude, 2 sin(lat) on a sphere.
func authalic(e, lat float64) float64 {
	sin := math.Sin(lat)
	if e == 0 {
		return 2 * sin
	}
	return (1 - e*e) * (sin/(1-e*e*sin*sin) + math.Atanh(e*sin)/e)
}

// latitudeOf inverts authalic.
func latitudeOf(e, q float64) float64 {
	if pole := authalic(e, math.Pi/2); math.Abs(q) >= pole*(1-1e-14) {
		if math.Abs(q) > pole*(1+1e-9) {
			return math.NaN()
		}
		return math.Copysign(math.Pi/2, q)
	}
	lat := math.Asin(max(-1, min(1, q/2)))
	for range 12 {
		sin, cos := math.Sincos(lat)
		w := 1 - e*e*sin*sin
		d := w * w / (2 * cos) * (q - authalic(e, lat)) / (1 - e*e)
		lat += d
		if math.Abs(d) < 1e-13 {
			break
		}
	}
	return lat
}

// albersCone is Albers' equal-area conic projection (Snyder 1987, pages 101 and 102).
type albersCone struct {
	cone
	a, e, c float64
}

func newAlbers(a, e float64, p parameters) projection {
	s := &albersCone{a: a, e: e}
	lat1, lat2 := p.lat1*degree, p.lat2*degree
	m1, m2 := parallel(e, lat1), parallel(e, lat2)
	q1, q2 := authalic(e, lat1), authalic(e, lat2)
	s.n = math.Sin(lat1)
	if lat1 != lat2 {
		s.n = (m1*m1 - m2*m2) / (q2 - q1)
	}
	s.c = m1*m1 + s.n*q1
	s.rho0 = s.rho(p.lat0 * degree)
	return s
}

func (s *albersCone) rho(lat float64) float64 {
	return s.a * math.Sqrt(s.c-s.n*authalic(s.e, lat)) / s.n
}

func (s *albersCone) forward(lon, lat float64) (x, y float64) { return s.point(lon, s.rho(lat)) }

func (s *albersCone) inverse(x, y float64) (lon, lat float64) {
	lon, rho := s.polar(x, y)
	return lon, latitudeOf(s.e, (s.c-math.Pow(rho*s.n/s.a, 2))/s.n)
}

// lambertCone is Lambert's conformal conic projection (Snyder 1987, pages 107 to 109).
type lambertCone struct {
	cone
	e, f float64 // f includes the semi-major axis and the scale
}

func newLambert1(a, e float64, p parameters) projection {
	p.lat1, p.lat2 = p.lat0, p.lat0
	return newLambert2(a, e, p)
}

func newLambert2(a, e float64, p parameters) projection { return lambert(a, e, p) }

func newMichigan(a, e float64, p parameters) projection { return lambert(a*p.height, e, p) }

func lambert(a, e float64, p parameters) *lambertCone {
	s := &lambertCone{e: e}
	lat1, lat2 := p.lat1*degree, p.lat2*degree
	m1, t1 := parallel(e, lat1), s.t(lat1)
	s.n = math.Sin(lat1)
	if lat1 != lat2 {
		s.n = math.Log(m1/parallel(e, lat2)) / math.Log(t1/s.t(lat2))
	}
	s.f = p.scale * a * m1 / (s.n * math.Pow(t1, s.n))
	s.rho0 = s.rho(p.lat0 * degree)
	return s
}

// t returns the tangent of half the conformal colatitude.
func (s *lambertCone) t(lat float64) float64 {
	return math.Exp(-math.Asinh(conformal(s.e, math.Tan(lat))))
}

func (s *lambertCone) rho(lat float64) float64 {
	if math.Abs(lat) >= math.Pi/2 && lat*s.n > 0 {
		return 0
	}
	return s.f * math.Pow(s.t(lat), s.n)
}

func (s *lambertCone) forward(lon, lat float64) (x, y float64) {
	return s.point(lon, s.rho(lat))
}

func (s *lambertCone) inverse(x, y float64) (lon, lat float64) {
	lon, rho := s.polar(x, y)
	t := math.Pow(rho/s.f, 1/s.n)
	return lon, math.Atan(geodetic(s.e, math.Sinh(-math.Log(t))))
}
