package imagery

import (
	"math"
	"slices"

	"github.com/paulmach/orb"

	"transect/client/geodesic"
)

const (
	// frameDiagonal is that of the 36 x 24 mm frame, to which a 35 mm
	// equivalent focal length refers: it gives the same diagonal angle of view
	// (CIPA DCG-001).
	frameDiagonal = 43.2666
	// defaultReach is how far in metres a photo is taken to show the ground
	// around it when height or focal length are unknown: what a usual 24 mm
	// equivalent lens sees, corner to corner, from 55 m.
	defaultReach = 50.0
	// maxReach bounds what odd records can do.
	maxReach = 5000.0
	// circleCorners is the number of corners of the polygon for a circle.
	circleCorners = 16
	// mapping is how far in degrees a camera of a flight may look away from
	// straight down for what it shows to be followed to the ground.
	mapping = 45.0
)

// Footprint estimates the ground that photos cover: the ring of a GeoJSON
// polygon of longitudes and latitudes in degrees, closed, counter-clockwise.
// It is nil when no photo has a position.
//
// The ring is the convex hull of the Outline of each photo. A camera that looks
// more than 45 degrees away from straight down counts with a circle: from height
// h above take-off, with a 35 mm equivalent focal length f, its radius is
// h * 43.27 mm / 2f.
//
// A survey across the antimeridian gives a ring that runs on past 180 or -180
// degrees instead of one cut in two. Within some metres of a pole the estimate
// means little.
func Footprint(photos []Photo) [][2]float64 {
	var g Ground
	for _, p := range photos {
		g.Add(p)
	}
	return g.Ring()
}

// Ground gathers what photos cover, one at a time: Footprint for surveys too
// large to be held in memory. The zero value is ready for use.
type Ground struct {
	plane  plane
	began  bool
	points []orb.Point
	hull   int // points left when they were last reduced
}

// maxPoints is when the points gathered are reduced to their hull, which has
// a few hundred at most.
const maxPoints = 1 << 14

// Add takes a photo in; one without position is passed over.
func (g *Ground) Add(p Photo) {
	if !p.HasPosition {
		return
	}
	if !g.began {
		g.plane, g.began = newPlane(p), true
	}
	g.points = append(g.points, corners(p, g.plane.to(p))...)
	if len(g.points) >= max(maxPoints, 2*g.hull) {
		g.points = ConvexHull(g.points)
		g.hull = len(g.points)
	}
}

// Ring is the footprint so far, nil when nothing was added.
func (g *Ground) Ring() [][2]float64 {
	if !g.began {
		return nil
	}
	hull := ConvexHull(g.points)
	ring := make([][2]float64, 0, len(hull)+1)
	for _, point := range hull {
		ring = append(ring, g.plane.from(point))
	}
	return append(ring, ring[0])
}

// Area returns the area in square metres, on the ellipsoid, of a ring such as
// Footprint returns.
func Area(ring [][2]float64) float64 { return geodesic.Area(ring) }

// corners are those of the ground a photo of a flight shows, around its place on
// the plane: as its Outline, but a camera that looks far ahead, which is not
// there for the map, counts with the ground around it.
func corners(p Photo, at orb.Point) []orb.Point {
	p.Roll = nil // a gimbal keeps it level
	if len(p.missing()) == 0 && math.Abs(*p.Pitch+90) <= mapping {
		if points, _ := p.project(at); points != nil {
			return points
		}
	}
	return circle(at, reach(p))
}

// plane is a local map in metres around one photo. Over the few kilometres of a
// flight it is true to well under a percent.
type plane struct {
	origin orb.Point
	scale  orb.Point // metres of a degree of longitude and latitude
}

func newPlane(p Photo) plane {
	east, north := geodesic.Degree(p.Latitude)
	// At the poles all longitudes are one; keep the scale invertible.
	return plane{orb.Point{p.Longitude, p.Latitude}, orb.Point{max(east, 0.1), north}}
}

func (m plane) to(p Photo) orb.Point {
	// The short way round, so that a survey across the antimeridian is one.
	east := math.Remainder(p.Longitude-m.origin[0], 360)
	return orb.Point{east * m.scale[0], (p.Latitude - m.origin[1]) * m.scale[1]}
}

// from rounds to nine decimals, a tenth of a millimetre.
func (m plane) from(point orb.Point) [2]float64 {
	round := func(v float64) float64 { return math.Round(v*1e9) / 1e9 }
	east := min(max(point[0]/m.scale[0], -180), 180)
	latitude := min(max(m.origin[1]+point[1]/m.scale[1], -90), 90)
	return [2]float64{round(m.origin[0] + east), round(latitude)}
}

// ConvexHull returns the corners of the hull of points on a plane,
// counter-clockwise and not closed (Andrew's monotone chain). Points on one
// line give the two ends.
func ConvexHull(points []orb.Point) []orb.Point {
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b orb.Point) int { return slices.Compare(a[:], b[:]) })
	points = slices.Compact(points)
	if len(points) < 3 {
		return points
	}
	half := func(hull []orb.Point, sequence []orb.Point) []orb.Point {
		base := len(hull)
		for _, p := range sequence {
			for len(hull) >= base+2 && turn(hull[len(hull)-2], hull[len(hull)-1], p) <= 0 {
				hull = hull[:len(hull)-1]
			}
			hull = append(hull, p)
		}
		return hull[:len(hull)-1] // the last is the first of the other half
	}
	hull := half(nil, points)
	slices.Reverse(points)
	return half(hull, points)
}

// turn is positive when a, b, c turn left.
func turn(a, b, c orb.Point) float64 {
	return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0])
}
