package crs

import "math"

// The other projections, by the formulas of IOGP Guidance Note 7-2.

// isometric returns the isometric latitude, which grows like the northing of Mercator's projection.
func isometric(e, lat float64) float64 { return math.Asinh(conformal(e, math.Tan(lat))) }

// latitudeAt inverts isometric.
func latitudeAt(e, psi float64) float64 { return math.Atan(geodetic(e, math.Sinh(psi))) }

// gudermann converts an isometric latitude to a latitude on a sphere.
func gudermann(psi float64) float64 { return math.Atan(math.Sinh(psi)) }

// solve finds the position that forward maps to x and y, starting nearby.
func solve(forward func(lon, lat float64) (x, y float64), x, y, lon, lat float64) (float64, float64) {
	const step = 1e-6
	for range 20 {
		x0, y0 := forward(lon, lat)
		x1, y1 := forward(lon+step, lat)
		x2, y2 := forward(lon, lat+step)
		a, b, c, d := (x1-x0)/step, (x2-x0)/step, (y1-y0)/step, (y2-y0)/step
		det := a*d - b*c
		dx, dy := x-x0, y-y0
		dLon, dLat := (dx*d-dy*b)/det, (dy*a-dx*c)/det
		lon, lat = lon+dLon, lat+dLat
		if math.Abs(dLon)+math.Abs(dLat) < 1e-13 {
			break
		}
	}
	if math.Abs(lat) > math.Pi/2 {
		return math.NaN(), math.NaN()
	}
	return lon, lat
}

// cassini is the Cassini-Soldner projection.
type cassini struct {
	meridian
	a, e, north float64
}

func newCassini(a, e float64, p parameters) projection {
	m := newMeridian(a, e)
	return cassini{m, a, e, m.distance(p.lat0 * degree)}
}

func (c cassini) forward(lon, lat float64) (x, y float64) {
	sin, cos := math.Sincos(lat)
	nu := c.a / math.Sqrt(1-c.e*c.e*sin*sin)
	t, k, l := sin*sin/(cos*cos), c.e*c.e*cos*cos/(1-c.e*c.e), lon*cos
	x = nu * (l - t*l*l*l/6 - (8-t+8*k)*t*math.Pow(l, 5)/120)
	return x, c.distance(lat) - c.north + nu*sin/cos*(l*l/2+(5-t+6*k)*math.Pow(l, 4)/24)
}

func (c cassini) inverse(x, y float64) (lon, lat float64) {
	lat = c.latitude(y + c.north)
	return solve(c.forward, x, y, x/(c.a*math.Cos(lat)), lat)
}

// polyconic is the American polyconic projection.
type polyconic struct {
	meridian
	a, e, north float64
}

func newPolyconic(a, e float64, p parameters) projection {
	m := newMeridian(a, e)
	return polyconic{m, a, e, m.distance(p.lat0 * degree)}
}

func (c polyconic) forward(lon, lat float64) (x, y float64) {
	sin, cos := math.Sincos(lat)
	if math.Abs(sin) < 1e-12 {
		return c.a * lon, -c.north
	}
	nu := c.a / math.Sqrt(1-c.e*c.e*sin*sin)
	sinL, cosL := math.Sincos(lon * sin)
	return nu * cos / sin * sinL, c.distance(lat) - c.north + nu*cos/sin*(1-cosL)
}

func (c polyconic) inverse(x, y float64) (lon, lat float64) {
	lat = c.latitude(y+c.north) * 0.98
	return solve(c.forward, x, y, x/(c.a*math.Cos(lat)), lat)
}

// colombia is the projection of Colombian towns, onto a plane at their height.
type colombia struct{ a, e, lat0, height, rho0, nu0 float64 }

// curvature returns the radii of curvature along the meridian and across it.
func curvature(a, e, lat float64) (rho, nu float64) {
	sin := math.Sin(lat)
	w := 1 - e*e*sin*sin
	return a * (1 - e*e) / math.Pow(w, 1.5), a / math.Sqrt(w)
}

func newColombia(a, e float64, p parameters) projection {
	rho, nu := curvature(a, e, p.lat0*degree)
	return colombia{a, e, p.lat0 * degree, p.height, rho, nu}
}

func (c colombia) forward(lon, lat float64) (x, y float64) {
	_, nu := curvature(c.a, c.e, lat)
	rhoM, _ := curvature(c.a, c.e, (lat+c.lat0)/2)
	l := lon * nu * math.Cos(lat)
	b := math.Tan(c.lat0) / (2 * c.rho0 * c.nu0)
	return (1 + c.height/c.nu0) * l, (1 + c.height/rhoM) * c.rho0 * (lat - c.lat0 + b*l*l)
}

func (c colombia) inverse(x, y float64) (lon, lat float64) {
	return solve(c.forward, x, y, x/(c.nu0*math.Cos(c.lat0)), c.lat0+y/c.rho0)
}

// polar is the polar stereographic projection.
type polar struct {
	e, factor, side float64 // side is 1 at the North Pole, -1 at the South Pole
}

func newPolarA(a, e float64, p parameters) projection {
	c := math.Sqrt(math.Pow(1+e, 1+e) * math.Pow(1-e, 1-e))
	return polar{e, 2 * a * p.scale / c, math.Copysign(1, p.lat0)}
}

// newPolarB accepts a parallel of true scale.
func newPolarB(a, e float64, p parameters) projection {
	side := math.Copysign(1, p.lat1)
	lat := side * p.lat1 * degree
	if lat > math.Pi/2-1e-9 {
		return newPolarA(a, e, parameters{lat0: p.lat1, scale: p.scale})
	}
	return polar{e, p.scale * a * parallel(e, lat) * math.Exp(isometric(e, lat)), side}
}

func (s polar) forward(lon, lat float64) (x, y float64) {
	rho := s.factor * math.Exp(-isometric(s.e, s.side*lat))
	if s.side*lat >= math.Pi/2 {
		rho = 0
	}
	sin, cos := math.Sincos(lon)
	return rho * sin, -s.side * rho * cos
}

func (s polar) inverse(x, y float64) (lon, lat float64) {
	rho := math.Hypot(x, y)
	if rho == 0 {
		return 0, s.side * math.Pi / 2
	}
	return math.Atan2(x, -s.side*y), s.side * latitudeAt(s.e, -math.Log(rho/s.factor))
}

// stereographic is the oblique stereographic projection, via a sphere.
type stereographic struct{ e, n, c, radius, sin0, cos0 float64 }

func newStereographic(a, e float64, p parameters) projection {
	lat := p.lat0 * degree
	rho, nu := curvature(a, e, lat)
	sin, cos := math.Sincos(lat)
	s := stereographic{e: e, n: math.Sqrt(1 + e*e*math.Pow(cos, 4)/(1-e*e)), radius: 2 * math.Sqrt(rho*nu) * p.scale}
	chi := math.Asin(sin / s.n) // of the origin, on the sphere
	s.c = math.Atanh(math.Sin(chi)) - s.n*isometric(e, lat)
	s.sin0, s.cos0 = math.Sincos(chi)
	return s
}

func (s stereographic) forward(lon, lat float64) (x, y float64) {
	sin, cos := math.Sincos(gudermann(s.n*isometric(s.e, lat) + s.c))
	sinL, cosL := math.Sincos(s.n * lon)
	b := s.radius / (1 + sin*s.sin0 + cos*s.cos0*cosL)
	return b * cos * sinL, b * (sin*s.cos0 - cos*s.sin0*cosL)
}

func (s stereographic) inverse(x, y float64) (lon, lat float64) {
	rho := math.Hypot(x, y)
	sin, cos := math.Sincos(2 * math.Atan2(rho, s.radius))
	if rho == 0 {
		rho = 1
	}
	chi := math.Asin(max(-1, min(1, cos*s.sin0+y*sin*s.cos0/rho)))
	lon = math.Atan2(x*sin, rho*s.cos0*cos-y*s.sin0*sin) / s.n
	return lon, latitudeAt(s.e, (math.Atanh(math.Sin(chi))-s.c)/s.n)
}

// hotine is the oblique Mercator projection; the Swiss one has the azimuth 90.
type hotine struct {
	e, a, b, h                         float64
	sin0, cos0, sinGrid, cosGrid, lon0 float64 // lon0 is relative to the longitude of the centre
	u                                  float64 // of the centre, 0 for variant A
}

func newHotineA(a, e float64, p parameters) projection {
	h := newHotine(a, e, p)
	h.u = 0
	return h
}

func newHotineB(a, e float64, p parameters) projection { return newHotine(a, e, p) }

func newHotine(a, e float64, p parameters) *hotine {
	lat, azimuth := p.lat0*degree, p.azimuth*degree
	sin, cos := math.Sincos(lat)
	s := &hotine{e: e, b: math.Sqrt(1 + e*e*math.Pow(cos, 4)/(1-e*e))}
	s.a = a * s.b * p.scale * math.Sqrt(1-e*e) / (1 - e*e*sin*sin)
	d := max(1, s.b*math.Sqrt(1-e*e)/(cos*math.Sqrt(1-e*e*sin*sin)))
	side := math.Copysign(1, lat)
	f := d + math.Sqrt(d*d-1)*side
	s.h = f * math.Exp(-s.b*isometric(e, lat))
	gamma := math.Asin(math.Sin(azimuth) / d)
	s.sin0, s.cos0 = math.Sincos(gamma)
	s.sinGrid, s.cosGrid = math.Sincos(p.grid * degree)
	s.lon0 = -math.Asin(max(-1, min(1, (f-1/f)/2*math.Tan(gamma)))) / s.b
	s.u = side * s.a / s.b * math.Atan2(math.Sqrt(d*d-1), math.Cos(azimuth))
	return s
}

func (s *hotine) forward(lon, lat float64) (x, y float64) {
	lon -= s.lon0
	q := s.h * math.Exp(s.b*isometric(s.e, lat))
	sinh, cosh := (q-1/q)/2, (q+1/q)/2
	sin, cos := math.Sincos(s.b * lon)
	v := -s.a / s.b * math.Atanh((-sin*s.cos0+sinh*s.sin0)/cosh)
	u := s.a/s.b*math.Atan2(sinh*s.cos0+sin*s.sin0, cos) - s.u
	return v*s.cosGrid + u*s.sinGrid, u*s.cosGrid - v*s.sinGrid
}

func (s *hotine) inverse(x, y float64) (lon, lat float64) {
	v, u := x*s.cosGrid-y*s.sinGrid, y*s.cosGrid+x*s.sinGrid+s.u
	q := math.Exp(-s.b * v / s.a)
	sinh, cosh := (q-1/q)/2, (q+1/q)/2
	sin, cos := math.Sincos(s.b * u / s.a)
	psi := math.Atanh((sin*s.cos0 + sinh*s.sin0) / cosh)
	return s.lon0 - math.Atan2(sinh*s.cos0-sin*s.sin0, cos)/s.b, latitudeAt(s.e, (psi-math.Log(s.h))/s.b)
}

// krovak is the conic projection of the former Czechoslovakia.
type krovak struct{ e, b, c, n, scale, tan0, sin, cos float64 }

func newKrovak(a, e float64, p parameters) projection {
	lat, parallel := p.lat0*degree, p.lat1*degree
	sin, cos := math.Sincos(lat)
	k := krovak{e: e, b: math.Sqrt(1 + e*e*math.Pow(cos, 4)/(1-e*e)), n: math.Sin(parallel),
		tan0: math.Tan(math.Pi/4 + parallel/2)}
	k.c = math.Atanh(sin/k.b) - k.b*isometric(e, lat)
	k.scale = p.scale * a * math.Sqrt(1-e*e) / (1 - e*e*sin*sin) / math.Tan(parallel)
	k.sin, k.cos = math.Sincos(p.azimuth * degree)
	return k
}

func (k krovak) forward(lon, lat float64) (x, y float64) {
	sinU, cosU := math.Sincos(gudermann(k.b*isometric(k.e, lat) + k.c))
	sinV, cosV := math.Sincos(-k.b * lon)
	t := math.Asin(k.cos*sinU + k.sin*cosU*cosV)
	theta := k.n * math.Asin(cosU*sinV/math.Cos(t))
	r := k.scale * math.Pow(k.tan0/math.Tan(t/2+math.Pi/4), k.n)
	return -r * math.Sin(theta), -r * math.Cos(theta)
}

func (k krovak) inverse(x, y float64) (lon, lat float64) {
	r, theta := math.Hypot(x, y), math.Atan2(-x, -y)
	t := 2 * (math.Atan(k.tan0*math.Pow(k.scale/r, 1/k.n)) - math.Pi/4)
	sinD, cosD := math.Sincos(theta / k.n)
	u := math.Asin(k.cos*math.Sin(t) - k.sin*math.Cos(t)*cosD)
	v := math.Asin(math.Cos(t) * sinD / math.Cos(u))
	return -v / k.b, latitudeAt(k.e, (math.Atanh(math.Sin(u))-k.c)/k.b)
}

// azimuthal is Lambert's azimuthal equal-area projection.
type azimuthal struct{ e, radius, pole, d, sin0, cos0 float64 }

func newAzimuthal(a, e float64, p parameters) projection {
	lat := p.lat0 * degree
	pole := authalic(e, math.Pi/2)
	s := azimuthal{e: e, radius: a * math.Sqrt(pole/2), pole: pole, d: 1}
	s.sin0 = authalic(e, lat) / pole
	s.cos0 = math.Sqrt(max(0, 1-s.sin0*s.sin0))
	if math.Abs(p.lat0) < 90-1e-9 {
		s.d = a * parallel(e, lat) / (s.radius * s.cos0)
	} else {
		s.cos0 = 0
	}
	return s
}

func (s azimuthal) forward(lon, lat float64) (x, y float64) {
	sin := authalic(s.e, lat) / s.pole
	cos := math.Sqrt(max(0, 1-sin*sin))
	sinL, cosL := math.Sincos(lon)
	b := s.radius * math.Sqrt(2/(1+s.sin0*sin+s.cos0*cos*cosL))
	return b * s.d * cos * sinL, b / s.d * (s.cos0*sin - s.sin0*cos*cosL)
}

func (s azimuthal) inverse(x, y float64) (lon, lat float64) {
	x, y = x/s.d, y*s.d
	rho := math.Hypot(x, y)
	if rho == 0 {
		return 0, latitudeOf(s.e, s.pole*s.sin0)
	}
	sin, cos := math.Sincos(2 * math.Asin(rho/(2*s.radius)))
	return math.Atan2(x*sin, rho*s.cos0*cos-y*s.sin0*sin), latitudeOf(s.e, s.pole*(cos*s.sin0+y*sin*s.cos0/rho))
}
