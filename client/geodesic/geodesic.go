// Package geodesic computes distances, azimuths and areas on the WGS 84 ellipsoid, for points in
// degrees. Package imagery and the scripts' geometry functions use it: Inverse and Direct solve the
// two geodesic problems, Length and Area measure lines and rings.
//
// It is written by hand because no Go module for it is available to this project, and spherical
// formulas have errors of half a percent. The method is from C. F. F. Karney, "Algorithms for
// geodesics", Journal of Geodesy 87 (2013) 43-55, doi:10.1007/s00190-012-0578-z; the comments give
// its equation numbers. Integrals are computed by Gauss-Legendre quadrature instead of series, the
// azimuth of the inverse problem by a bracketed search. Errors are a few nanometres, also between
// nearly antipodal points.
package geodesic

import "math"

// The WGS 84 ellipsoid.
const (
	Equator    = 6378137.0         // equatorial radius in metres
	Flattening = 1 / 298.257223563 // of the ellipsoid

	polar = Equator * (1 - Flattening)
	e2    = Flattening * (2 - Flattening) // eccentricity squared
	ep2   = e2 / (1 - e2)                 // second eccentricity squared
)

// Line is the geodesic between two points.
type Line struct {
	Metres float64
	// Start and End are the forward azimuths at both ends: degrees clockwise from
	// north, -180 to 180.
	Start, End float64
	// Below is the area in square metres between the line, the equator and the
	// meridians of its ends.
	Below float64
}

// arc is a section of a geodesic on the auxiliary sphere, measured from its
// northward equator crossing (fig. 1).
type arc struct {
	sin0, cos0 float64 // of the azimuth at the equator
	start, len float64 // σ1 and σ12
	k2         float64
}

// root returns sqrt(1 + k² sin²σ).
func (a arc) root(sin float64) float64 { return math.Sqrt(1 + a.k2*sin*sin) }

// metres returns the length (eq. 7).
func (a arc) metres() float64 { return polar * integrate(a.start, a.len, a.root) }

// lag returns how much smaller the longitude is than on the sphere (eq. 8).
func (a arc) lag() float64 {
	return Flattening * a.sin0 * integrate(a.start, a.len, func(sin float64) float64 {
		return (2 - Flattening) / (1 + (1-Flattening)*a.root(sin))
	})
}

// reduced returns sine and cosine of the reduced latitude (eq. 6).
func reduced(latitude float64) (sin, cos float64) {
	sin, cos = sincos(latitude)
	sin *= 1 - Flattening
	h := math.Hypot(sin, cos)
	return sin / h, math.Max(cos/h, 1e-150) // the azimuth must be defined at a pole
}

// sincos returns sine and cosine, exact at multiples of 90 degrees.
func sincos(degrees float64) (sin, cos float64) {
	r := math.Remainder(degrees, 90)
	quarter := int(math.Remainder(math.Round((degrees-r)/90), 4))
	sin, cos = math.Sincos(r * math.Pi / 180)
	switch quarter & 3 {
	case 1:
		sin, cos = cos, -sin
	case 2:
		sin, cos = -sin, -cos
	case 3:
		sin, cos = -cos, sin
	}
	return sin + 0, cos + 0
}

func degrees(radians float64) float64 { return radians * 180 / math.Pi }

// Direct returns the point at a distance in metres and an azimuth in degrees from
// another point, and the forward azimuth there.
func Direct(latitude, longitude, azimuth, metres float64) (lat, lon, end float64) {
	sinB, cosB := reduced(latitude)
	sinA, cosA := sincos(azimuth)
	g := arc{sin0: sinA * cosB, cos0: math.Hypot(cosA, sinA*sinB)}
	g.k2 = ep2 * g.cos0 * g.cos0
	g.start = math.Atan2(sinB, cosA*cosB)
	for range 8 { // Newton converges fast: the integrand varies by a third of a percent
		g.len += (metres - g.metres()) / polar / g.root(math.Sin(g.start+g.len))
	}
	sin1, cos1 := math.Sincos(g.start)
	sin2, cos2 := math.Sincos(g.start + g.len)
	sphere := math.Atan2(g.sin0*sin2, cos2) - math.Atan2(g.sin0*sin1, cos1) // ω12
	lat = degrees(math.Atan2(g.cos0*sin2, (1-Flattening)*math.Hypot(g.sin0, g.cos0*cos2)))
	lon = math.Remainder(longitude+degrees(sphere-g.lag()), 360)
	return lat, lon, degrees(math.Atan2(g.sin0, g.cos0*cos2))
}

// Degree returns the length in metres of a degree of longitude and of latitude at a latitude, as
// the scale of a local map.
func Degree(latitude float64) (east, north float64) {
	sin, cos := sincos(latitude)
	w := 1 - e2*sin*sin
	across := Equator / math.Sqrt(w) // radius of curvature in the prime vertical
	return across * cos * math.Pi / 180, across * (1 - e2) / w * math.Pi / 180
}
