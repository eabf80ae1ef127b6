package imagery

import (
	"math"

	"github.com/paulmach/orb"
)

// Fact is metadata needed for an outline.
type Fact string

// Metadata that an outline is computed from.
const (
	FactPosition Fact = "position"
	FactHeight   Fact = "height above the ground"
	FactView     Fact = "angle of view"
	FactYaw      Fact = "yaw"
	FactPitch    Fact = "pitch"
)

// Outline is the ground visible in a photo.
type Outline struct {
	// Ring is the ring of a GeoJSON polygon, closed and counter-clockwise; nil
	// without a position or without ground in the photo. Across the antimeridian
	// it continues past 180 or -180 degrees.
	Ring [][2]float64
	// Missing lists the metadata that the photo lacks. Without height or angle of view the ring is
	// a circle of 50 m, without yaw or pitch the circle around the view of a camera looking
	// straight down.
	Missing []Fact
	// Cut reports that the photo shows ground more than 75 degrees from straight down, where the
	// ring is cut off.
	Cut bool
	// Height is in metres above the ground, Pixel the width in metres of the ground in the middle
	// pixel; 0 when unknown.
	Height, Pixel float64
}

// farthest is the tangent of the largest angle from straight down: 3.7 times the height away, where
// one more degree adds a quarter to the distance.
var farthest = math.Tan(75 * math.Pi / 180)

// Outline estimates the ground visible in the photo, assuming flat ground at the height of the
// take-off point and no lens distortion.
func (p Photo) Outline() Outline {
	o := Outline{Missing: p.missing()}
	if !p.HasPosition {
		return o
	}
	if p.RelativeAltitude != nil && *p.RelativeAltitude > 0 {
		o.Height = *p.RelativeAltitude
	}
	m := newPlane(p)
	var points []orb.Point
	if len(o.Missing) > 0 {
		points = circle(m.to(p), reach(p))
	} else {
		points, o.Cut = p.project(m.to(p))
		down := math.Sin(-*p.Pitch * math.Pi / 180)
		o.Pixel = 2 * reach(p) / math.Hypot(float64(p.Width), float64(p.Height)) / down
		if points == nil {
			o.Pixel = 0
			return o
		}
	}
	for _, point := range ConvexHull(points) {
		o.Ring = append(o.Ring, m.from(point))
	}
	o.Ring = append(o.Ring, o.Ring[0])
	return o
}

func (p Photo) missing() []Fact {
	var facts []Fact
	for _, f := range []struct {
		fact  Fact
		known bool
	}{
		{FactPosition, p.HasPosition},
		{FactHeight, p.RelativeAltitude != nil && *p.RelativeAltitude > 0},
		{FactView, p.Focal35() > 0 && p.Width > 0 && p.Height > 0},
		{FactYaw, p.Yaw != nil},
		{FactPitch, p.Pitch != nil},
	} {
		if !f.known {
			facts = append(facts, f.fact)
		}
	}
	return facts
}

// Focal35 returns the 35 mm equivalent focal length in millimetres: as recorded, or
// from focal length and sensor; 0 when unknown.
func (p Photo) Focal35() float64 {
	if p.FocalLength35 > 0 || p.FocalLength <= 0 || p.SensorWidth <= 0 || p.Width <= 0 || p.Height <= 0 {
		return max(p.FocalLength35, 0)
	}
	diagonal := p.SensorWidth * math.Hypot(float64(p.Width), float64(p.Height)) / float64(p.Width)
	return p.FocalLength * frameDiagonal / diagonal
}

// project projects the corners to the ground, for a photo with all the metadata. It returns nil
// when no ray hits the ground; rays that go too far are cut.
func (p Photo) project(at orb.Point) (points []orb.Point, cut bool) {
	sinYaw, cosYaw := math.Sincos(*p.Yaw * math.Pi / 180)
	sinPitch, cosPitch := math.Sincos(*p.Pitch * math.Pi / 180)
	sinRoll, cosRoll := 0.0, 1.0
	if p.Roll != nil {
		sinRoll, cosRoll = math.Sincos(*p.Roll * math.Pi / 180)
	}
	// The camera's axes (ahead, right, up) as east, north and up; roll rotates the image clockwise.
	ahead := [3]float64{cosPitch * sinYaw, cosPitch * cosYaw, sinPitch}
	right := [3]float64{cosYaw, -sinYaw, 0}
	up := [3]float64{-sinPitch * sinYaw, -sinPitch * cosYaw, cosPitch}
	for i := range right {
		right[i], up[i] = right[i]*cosRoll-up[i]*sinRoll, up[i]*cosRoll+right[i]*sinRoll
	}
	diagonal := math.Hypot(float64(p.Width), float64(p.Height))
	half := frameDiagonal / 2 / p.Focal35()
	wide, high := half*float64(p.Width)/diagonal, half*float64(p.Height)/diagonal
	height := reach(p) / half // limited for implausible records
	grounded := false
	for _, corner := range [][2]float64{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}} {
		var ray [3]float64
		for i := range ray {
			ray[i] = ahead[i] + corner[0]*wide*right[i] + corner[1]*high*up[i]
		}
		away := math.Hypot(ray[0], ray[1])
		distance := away / -ray[2] // in multiples of the height
		if ray[2] >= 0 || distance > farthest {
			distance, cut = farthest, true
		} else {
			grounded = true
		}
		if away > 0 {
			distance = min(distance*height, maxReach) / away
		}
		points = append(points, orb.Point{at[0] + ray[0]*distance, at[1] + ray[1]*distance})
	}
	if !grounded {
		return nil, true
	}
	return points, cut
}

func circle(at orb.Point, radius float64) []orb.Point {
	var points []orb.Point
	for i := range circleCorners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / circleCorners)
		points = append(points, orb.Point{at[0] + radius*cos, at[1] + radius*sin})
	}
	return points
}

// reach returns half the diagonal, in metres, of the ground visible in a photo taken straight down.
func reach(p Photo) float64 {
	focal := p.Focal35()
	if p.RelativeAltitude == nil || *p.RelativeAltitude <= 0 || focal <= 0 {
		return defaultReach
	}
	return min(max(*p.RelativeAltitude*frameDiagonal/2/focal, 1), maxReach)
}
