// Package geometry computes with GeoJSON geometries: area and length on the ellipsoid; hull, centroid,
// containment and simplification on a local plane. GeoJSON objects are already checked and converted
// (client/geojson). The Lua module geo and the prompt use it. Start reading at OnPlane.
package geometry

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"github.com/paulmach/orb/project"

	"transect/client/fault"
	"transect/client/formats/imagery"
	"transect/client/geodesic"
)

// parts calls f for the points, lines and polygons that g consists of.
func parts(g orb.Geometry, f func(part orb.Geometry)) {
	switch g := g.(type) {
	case orb.MultiPoint:
		eachPart(g, f)
	case orb.MultiLineString:
		eachPart(g, f)
	case orb.MultiPolygon:
		eachPart(g, f)
	case orb.Collection:
		eachPart(g, f)
	default:
		f(g)
	}
}

func eachPart[G orb.Geometry](list []G, f func(part orb.Geometry)) {
	for _, part := range list {
		parts(part, f)
	}
}

// Area returns the area of polygons without their holes in square metres on the ellipsoid; edges are
// geodesics. Points and lines have none.
func Area(g orb.Geometry) (sum float64) {
	parts(g, func(part orb.Geometry) {
		polygon, _ := part.(orb.Polygon)
		for i, ring := range polygon {
			if area := geodesic.Area(ring); i == 0 {
				sum += area
			} else {
				sum -= area
			}
		}
	})
	return sum
}

// Length returns the length of lines, and of the edges of polygons, in metres on the ellipsoid.
func Length(g orb.Geometry) (sum float64) {
	parts(g, func(part orb.Geometry) {
		switch part := part.(type) {
		case orb.LineString:
			sum += geodesic.Length(part)
		case orb.Polygon:
			for _, ring := range part {
				sum += geodesic.Length(ring)
			}
		}
	})
	return sum
}

// Contains reports whether a point is inside any polygon of g, and whether g has a polygon.
func Contains(g orb.Geometry, p orb.Point) (inside, areas bool) {
	parts(g, func(part orb.Geometry) {
		if polygon, ok := part.(orb.Polygon); ok {
			inside, areas = inside || planar.PolygonContains(polygon, p), true
		}
	})
	return inside, areas
}

// Positions lists the positions of a geometry.
func Positions(g orb.Geometry) (points []orb.Point) {
	parts(g, func(part orb.Geometry) {
		switch part := part.(type) {
		case orb.Point:
			points = append(points, part)
		case orb.LineString:
			points = append(points, part...)
		case orb.Polygon:
			for _, ring := range part {
				points = append(points, ring...)
			}
		}
	})
	return points
}

// Between returns the geodesic between two points.
func Between(a, b orb.Point) geodesic.Line { return geodesic.Inverse(a[1], a[0], b[1], b[0]) }

// From returns the point at a distance in metres and an azimuth in degrees clockwise from north.
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

// OnPlane applies f to a geometry projected to metres around its centre, with
// less than a percent of distortion over tens of kilometres.
func OnPlane(g orb.Geometry, f func(orb.Geometry) (orb.Geometry, error)) (orb.Geometry, error) {
	centre := g.Bound().Center()
	east, north := geodesic.Degree(centre[1])
	east = max(east, 0.1) // invertible at the poles too
	g, err := f(project.Geometry(orb.Clone(g), func(p orb.Point) orb.Point {
		return orb.Point{(p[0] - centre[0]) * east, (p[1] - centre[1]) * north}
	}))
	if err != nil {
		return nil, err
	}
	round := func(v float64) float64 { return math.Round(v*1e9) / 1e9 } // a tenth of a millimetre
	return project.Geometry(g, func(p orb.Point) orb.Point {
		return orb.Point{round(p[0]/east + centre[0]), round(p[1]/north + centre[1])}
	}), nil
}

// Hull returns the convex hull. Collinear positions are a ValueError.
func Hull(g orb.Geometry) (orb.Geometry, error) {
	ring := orb.Ring(imagery.ConvexHull(Positions(g)))
	if len(ring) < 3 {
		return nil, fault.Of(&fault.ValueError{}, "the positions are collinear and enclose no area")
	}
	return orb.Polygon{append(ring, ring[0])}, nil
}

// Simplify reduces the positions of g, which it changes. A ring that would
// vanish is kept as it is.
func Simplify(g orb.Geometry, by orb.Simplifier) orb.Geometry {
	switch g := g.(type) {
	case orb.Polygon:
		out := make(orb.Polygon, len(g))
		for i, ring := range g {
			if out[i] = by.Ring(ring.Clone()); len(out[i]) < 4 {
				out[i] = ring
			}
		}
		return out
	case orb.MultiPolygon:
		for i, part := range g {
			g[i] = Simplify(part, by).(orb.Polygon)
		}
		return g
	case orb.Collection:
		for i, part := range g {
			g[i] = Simplify(part, by)
		}
		return g
	}
	return by.Simplify(g)
}
