package crs

import (
	"fmt"
	"math"
)

type ellipsoid struct {
	name       string
	a, inverse float64 // semi-major axis in metres, inverse flattening, 0 for a sphere
}

func (e ellipsoid) eccentricity() float64 {
	if e.inverse == 0 {
		return 0
	}
	return math.Sqrt((2 - 1/e.inverse) / e.inverse)
}

// same reports whether two ellipsoids differ only by the rounding of programs.
func (e ellipsoid) same(o ellipsoid) bool {
	return math.Abs(e.a-o.a) < 0.05 && math.Abs(e.inverse-o.inverse) < 1e-4
}

// datum is a geodetic datum and its transformations to WGS 84.
type datum struct {
	code      int    // in the EPSG register, 0 for none
	system    int    // EPSG code of its longitudes and latitudes, 0 for none
	name      string // name of its longitudes and latitudes
	wkt       string // name of the datum
	ellipsoid ellipsoid
	prime     string // meridian
	meridian  float64
	shifts    []shift // empty when its position is unknown
	unsure    bool    // the shifts do not cover all of its area
}

// shift is a transformation to WGS 84 for an area.
type shift struct {
	accuracy                 float64
	south, west, north, east float64
	// Position vector transformation in metres, seconds of arc and parts per million.
	helmert  [7]float64
	offshore bool
}

func (s *shift) world() bool { return s.south == -90 && s.north == 90 && s.east-s.west == 360 }

func (s *shift) contains(lon, lat float64) bool {
	lon = s.west + math.Mod(math.Mod(lon-s.west, 360)+360, 360)
	east := s.east
	if east < s.west {
		east += 360
	}
	return lat >= s.south && lat <= s.north && lon <= east
}

// inside reports whether the area of s is part of o's.
func (s *shift) inside(o *shift) bool {
	return s.south > o.south && s.north < o.north && s.west > o.west && s.east < o.east
}

// shift returns the transformation at a position as PROJ chooses it: the most accurate one whose area
// contains the position, and of equal ones the one whose area is within the other's; transformations
// for the sea come last. It returns nil without any.
func (d *datum) shift(contains func(i int) bool) (best *shift) {
	for i := range d.shifts {
		s := &d.shifts[i]
		if contains(i) && (best == nil || !s.offshore && (s.accuracy < best.accuracy ||
			s.accuracy == best.accuracy && s.inside(best))) {
			best = s
		}
	}
	return best
}

// rectangle returns the bounds, in metres on the map, of the area of a transformation, within which
// PROJ uses it for projected coordinates.
func (s *System) rectangle(t *shift) (low, high [2]float64) {
	low, high = [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	const steps = 20
	width := t.east - t.west
	if width < 0 {
		width += 360
	}
	for i := range steps + 1 {
		along := float64(i) / steps
		for _, p := range [][2]float64{{along, 0}, {along, 1}, {0, along}, {1, along}} {
			lon := math.Remainder(t.west+p[0]*width-s.datum.meridian-s.lon0, 360)
			x, y := s.projection.forward(lon*degree, (t.south+p[1]*(t.north-t.south))*degree)
			if finite(x, y) {
				low, high = [2]float64{min(low[0], x), min(low[1], y)}, [2]float64{max(high[0], x), max(high[1], y)}
			}
		}
	}
	return low, high
}

// shiftAt returns the transformation for a position on the datum: in metres on the map of
// a projected system, and in degrees from Greenwich.
func (s *System) shiftAt(x, y, lon, lat float64) *shift {
	return s.datum.shift(func(i int) bool {
		if t := &s.datum.shifts[i]; s.areas == nil || t.world() {
			return t.contains(lon, lat)
		}
		a := s.areas[i]
		return x >= a[0][0] && x <= a[1][0] && y >= a[0][1] && y <= a[1][1]
	})
}

// apply converts degrees on an ellipsoid to degrees on WGS 84's.
func (s *shift) apply(e ellipsoid, lon, lat float64) (float64, float64) {
	if s.helmert == [7]float64{} {
		return lon, lat
	}
	ecc := e.eccentricity()
	sinLat, cosLat := math.Sincos(lat * degree)
	sinLon, cosLon := math.Sincos(lon * degree)
	nu := e.a / math.Sqrt(1-ecc*ecc*sinLat*sinLat)
	x, y, z := nu*cosLat*cosLon, nu*cosLat*sinLon, nu*(1-ecc*ecc)*sinLat

	h := s.helmert
	rx, ry, rz, k := h[3]*degree/3600, h[4]*degree/3600, h[5]*degree/3600, 1+h[6]*1e-6
	x, y, z = h[0]+k*(x-rz*y+ry*z), h[1]+k*(rz*x+y-rx*z), h[2]+k*(-ry*x+rx*y+z)

	to := wgs84Ellipsoid.eccentricity()
	p := math.Hypot(x, y)
	phi := math.Atan2(z, p*(1-to*to))
	for range 5 {
		sin, cos := math.Sincos(phi)
		nu := wgs84Ellipsoid.a / math.Sqrt(1-to*to*sin*sin)
		height := p*cos + z*sin - nu*(1-to*to*sin*sin)
		phi = math.Atan2(z, p*(1-to*to*nu/(nu+height)))
	}
	return lon + math.Remainder(math.Atan2(y, x)/degree-lon, 360), phi / degree
}

// back inverts apply.
func (s *shift) back(e ellipsoid, lon, lat float64) (float64, float64) {
	x, y := lon, lat
	for range 6 { // one iteration without a shift
		toLon, toLat := s.apply(e, x, y)
		x, y = x+lon-toLon, max(-90, min(90, y+lat-toLat))
	}
	return x, y
}

// stated returns the datum with a file's transformation in place of the register's.
func (d datum) stated(helmert [7]float64) *datum {
	d.shifts, d.unsure = []shift{{south: -90, west: -180, north: 90, east: 180, helmert: helmert}}, false
	return &d
}

// usable returns an error for a datum without a known transformation to WGS 84.
func (d *datum) usable() error {
	if len(d.shifts) == 0 || d.unsure {
		return fmt.Errorf("no transformation from the datum %q to WGS 84 is known", d.wkt)
	}
	return nil
}
