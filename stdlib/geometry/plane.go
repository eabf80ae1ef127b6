package geometry

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/project"

	"transect/client/geodesic"
)

// Plane projects to metres around the centre of a geometry and back, with less
// than a percent of distortion over tens of kilometres.
func Plane(g orb.Geometry) (to, from orb.Projection) {
	centre := g.Bound().Center()
	east, north := geodesic.Degree(centre[1])
	east = max(east, 0.1) // invertible at the poles too
	to = func(p orb.Point) orb.Point { return orb.Point{(p[0] - centre[0]) * east, (p[1] - centre[1]) * north} }
	round := func(v float64) float64 { return math.Round(v*1e9) / 1e9 } // a tenth of a millimetre
	from = func(p orb.Point) orb.Point {
		return orb.Point{round(p[0]/east + centre[0]), round(p[1]/north + centre[1])}
	}
	return to, from
}

// OnPlane applies f to a geometry in its local plane.
func OnPlane(g orb.Geometry, f func(orb.Geometry) (orb.Geometry, error)) (orb.Geometry, error) {
	to, from := Plane(g)
	g, err := f(project.Geometry(orb.Clone(g), to))
	if err != nil {
		return nil, err
	}
	return project.Geometry(g, from), nil
}
