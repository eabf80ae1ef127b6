package geometry

import (
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"transect/client/fault"
	"transect/client/imagery"
)

// Contains reports whether a point lies in any polygon of g, and how many polygons it has.
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

// Hull is the convex hull. Collinear positions are a ValueError.
func Hull(g orb.Geometry) (orb.Geometry, error) {
	ring := orb.Ring(imagery.ConvexHull(Positions(g)))
	if len(ring) < 3 {
		return nil, fault.Of(&fault.ValueError{}, "the positions are collinear and enclose no area")
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
