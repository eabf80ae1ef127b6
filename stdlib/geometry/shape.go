package geometry

import (
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"transect/client/fault"
	"transect/client/imagery"
)

// Contains says whether a point lies in any area of g, and how many there are.
func Contains(g orb.Geometry, p orb.Point) (inside bool, areas int) {
	switch g := g.(type) {
	case orb.Polygon:
		return planar.PolygonContains(g, p), 1
	case orb.MultiPolygon:
		return planar.MultiPolygonContains(g, p), 1
	case orb.Collection:
		for _, part := range g {
			in, n := Contains(part, p)
			inside, areas = inside || in, areas+n
		}
	}
	return inside, areas
}

// Hull is what a rubber band around a geometry on a plane encloses.
func Hull(g orb.Geometry) (orb.Geometry, error) {
	ring := orb.Ring(imagery.ConvexHull(Positions(g)))
	if len(ring) < 3 {
		return nil, fault.Of(&fault.ValueError{}, "the positions lie on one line, so they enclose nothing")
	}
	return orb.Polygon{append(ring, ring[0])}, nil
}

// Positions lists the positions of a geometry.
func Positions(g orb.Geometry) []orb.Point {
	var points []orb.Point
	switch g := g.(type) {
	case orb.Point:
		return []orb.Point{g}
	case orb.MultiPoint:
		return g
	case orb.LineString:
		return g
	case orb.MultiLineString:
		for _, part := range g {
			points = append(points, part...)
		}
	case orb.Polygon:
		for _, part := range g {
			points = append(points, part...)
		}
	case orb.MultiPolygon:
		for _, part := range g {
			points = append(points, Positions(part)...)
		}
	case orb.Collection:
		for _, part := range g {
			points = append(points, Positions(part)...)
		}
	}
	return points
}

// Simplify leaves out positions; the geometry is changed; a ring that would vanish stays as it is.
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
