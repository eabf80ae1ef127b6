package geometry

import (
	"math"

	"github.com/paulmach/orb"

	"transect/client/geodesic"
)

// Area is the area of polygons without their holes in square metres on the
// ellipsoid; edges are geodesics. Points and lines have none.
func Area(g orb.Geometry) float64 {
	sum := 0.0
	switch g := g.(type) {
	case orb.Polygon:
		for i, ring := range g {
			if area := geodesic.Area(points(ring)); i == 0 {
				sum = area
			} else {
				sum -= area
			}
		}
	case orb.MultiPolygon:
		return total(g, Area)
	case orb.Collection:
		return total(g, Area)
	}
	return sum
}

// Length is the length of lines, and of the edges of polygons, in metres on the
// ellipsoid.
func Length(g orb.Geometry) float64 {
	sum := 0.0
	switch g := g.(type) {
	case orb.LineString:
		sum = geodesic.Length(points(g))
	case orb.MultiLineString:
		return total(g, Length)
	case orb.Polygon:
		for _, ring := range g {
			sum += geodesic.Length(points(ring))
		}
	case orb.MultiPolygon:
		return total(g, Length)
	case orb.Collection:
		return total(g, Length)
	}
	return sum
}

// total is the sum over parts.
func total[G orb.Geometry](parts []G, measure func(orb.Geometry) float64) (sum float64) {
	for _, part := range parts {
		sum += measure(part)
	}
	return sum
}

// Between is the geodesic between two points.
func Between(a, b orb.Point) geodesic.Line { return geodesic.Inverse(a[1], a[0], b[1], b[0]) }

// From is the point at a distance in metres and an azimuth in degrees
// clockwise from north.
func From(p orb.Point, azimuth, metres float64) orb.Point {
	lat, lon, _ := geodesic.Direct(p[1], p[0], azimuth, metres)
	return orb.Point{lon, lat}
}

// Pad extends a box by at least a distance in metres on each side, at most to
// the poles and around the globe. A negative distance shrinks it, at most to
// its centre.
func Pad(b orb.Bound, metres float64) orb.Bound {
	_, south := geodesic.Degree(b.Min[1])
	_, north := geodesic.Degree(b.Max[1])
	out := orb.Bound{
		Min: orb.Point{0, max(b.Min[1]-metres/south, -90)},
		Max: orb.Point{0, min(b.Max[1]+metres/north, 90)},
	}
	east, _ := geodesic.Degree(max(math.Abs(out.Min[1]), math.Abs(out.Max[1])))
	out.Min[0], out.Max[0] = b.Min[0]-metres/max(east, 0.1), b.Max[0]+metres/max(east, 0.1)
	if wide := 180 + b.Center()[0]; out.Max[0] > wide || out.Min[0] < wide-360 {
		out.Min[0], out.Max[0] = -180, 180
	}
	for i, middle := range b.Center() {
		if out.Min[i] > out.Max[i] {
			out.Min[i], out.Max[i] = middle, middle
		}
	}
	return out
}

func points[T ~[]orb.Point](list T) [][2]float64 {
	out := make([][2]float64, len(list))
	for i, p := range list {
		out[i] = p
	}
	return out
}
