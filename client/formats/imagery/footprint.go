package imagery

import (
	"math"
	"slices"

	"github.com/paulmach/orb"

	"transect/client/geodesic"
)

const (
	// frameDiagonal is the diagonal of the 36 x 24 mm frame in millimetres. A 35 mm
	// equivalent focal length gives the same diagonal angle of view (CIPA DCG-001).
	frameDiagonal = 43.2666
	// defaultReach is the radius in metres of the visible ground when height or focal length are
	// unknown: the view of a 24 mm equivalent lens from 55 m.
	defaultReach = 50.0
	// maxReach limits the radius for implausible records.
	maxReach = 5000.0
	// circleCorners is the number of corners of a circle.
	circleCorners = 16
	// maxTilt is the largest angle in degrees from straight down at which a camera's view is
	// projected to the ground.
	maxTilt = 45.0
)

// Footprint estimates the ground that photos cover, as the ring of a GeoJSON polygon: longitudes
// and latitudes in degrees, closed, counter-clockwise; nil when no photo has a position.
//
// The ring is the convex hull of the Outlines of the photos. A camera that looks more than 45
// degrees away from straight down counts as a circle with the radius h * 43.27 mm / 2f, for the
// height h above take-off and the 35 mm equivalent focal length f.
//
// A ring across the antimeridian continues past 180 or -180 degrees. Within a few metres of a pole
// the estimate is meaningless.
func Footprint(photos []Photo) [][2]float64 {
	var g Ground
	for _, p := range photos {
		g.Add(p)
	}
	return g.Ring()
}

// Ground computes the Footprint of photos added one at a time, in little memory. The zero value is ready to use.
type Ground struct {
	plane  plane
	began  bool
	points []orb.Point
	hull   int // number of points after the last reduction
}

// maxPoints is how many points are kept before reducing them to their convex hull, which has a few
// hundred at most.
const maxPoints = 1 << 14

// Add adds a photo; one without position is ignored.
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

// Ring returns the footprint of the photos added so far, nil without any.
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

// corners returns the corners of the ground visible in a photo at a point of the plane: its
// Outline, or a circle for a camera that looks ahead.
func corners(p Photo, at orb.Point) []orb.Point {
	p.Roll = nil // gimbals keep level
	if len(p.missing()) == 0 && math.Abs(*p.Pitch+90) <= maxTilt {
		if points, _ := p.project(at); points != nil {
			return points
		}
	}
	return circle(at, reach(p))
}

// plane is a local map projection in metres around one photo. Its error is well
// below a percent over a few kilometres.
type plane struct {
	origin orb.Point
	scale  orb.Point // metres per degree of longitude and latitude
}

func newPlane(p Photo) plane {
	east, north := geodesic.Degree(p.Latitude)
	// The scale must remain invertible at the poles.
	return plane{orb.Point{p.Longitude, p.Latitude}, orb.Point{max(east, 0.1), north}}
}

func (m plane) to(p Photo) orb.Point {
	// The remainder keeps a survey across the antimeridian contiguous.
	east := math.Remainder(p.Longitude-m.origin[0], 360)
	return orb.Point{east * m.scale[0], (p.Latitude - m.origin[1]) * m.scale[1]}
}

// from converts back to degrees, rounded to nine decimals, a tenth of a millimetre.
func (m plane) from(point orb.Point) [2]float64 {
	round := func(v float64) float64 { return math.Round(v*1e9) / 1e9 }
	east := min(max(point[0]/m.scale[0], -180), 180)
	latitude := min(max(m.origin[1]+point[1]/m.scale[1], -90), 90)
	return [2]float64{round(m.origin[0] + east), round(latitude)}
}

// ConvexHull returns the convex hull of points, counter-clockwise and not closed (Andrew's monotone
// chain), and for collinear points the two ends.
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
		return hull[:len(hull)-1] // the last point is the first of the other half
	}
	hull := half(nil, points)
	slices.Reverse(points)
	return half(hull, points)
}

// turn returns a positive number when a, b, c turn left.
func turn(a, b, c orb.Point) float64 {
	return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0])
}
