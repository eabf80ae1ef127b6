package geometry

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/project"

	"transect/client/geodesic"
)

// Plane is a map in metres around the middle of a shape: true to well under a
// percent over the tens of kilometres of a survey.
func Plane(g orb.Geometry) (to, from orb.Projection) {
	middle := g.Bound().Center()
	east, north := geodesic.Degree(middle[1])
	east = max(east, 0.1) // at the poles too there is a way back
	to = func(p orb.Point) orb.Point { return orb.Point{(p[0] - middle[0]) * east, (p[1] - middle[1]) * north} }
	round := func(v float64) float64 { return math.Round(v*1e9) / 1e9 } // a tenth of a millimetre
	from = func(p orb.Point) orb.Point {
		return orb.Point{round(p[0]/east + middle[0]), round(p[1]/north + middle[1])}
	}
	return to, from
}

// OnPlane changes a geometry on the plane around its middle.
func OnPlane(g orb.Geometry, f func(orb.Geometry) (orb.Geometry, error)) (orb.Geometry, error) {
	to, from := Plane(g)
	g, err := f(project.Geometry(orb.Clone(g), to))
	if err != nil {
		return nil, err
	}
	return project.Geometry(g, from), nil
}
