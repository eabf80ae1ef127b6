package formats

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/project"

	"transect/client/formats/crs"
)

// box accumulates the bounds of positions and a hull: the outermost position in each of some
// directions, in constant memory.
type box struct {
	low, high [2]float64
	n         int64
	extreme   [directions]orb.Point
	reach     [directions]float64
}

const directions = 32

// normals are the unit vectors of the directions, counter-clockwise.
var normals = func() (n [directions][2]float64) {
	for i := range n {
		n[i][1], n[i][0] = math.Sincos(2 * math.Pi * float64(i) / directions)
	}
	return n
}()

func (b *box) empty() bool { return b.n == 0 }

func (b *box) add(x, y float64) {
	if math.IsNaN(x+y) || math.IsInf(x+y, 0) {
		return
	}
	if b.n++; b.n == 1 {
		b.low, b.high = [2]float64{x, y}, [2]float64{x, y}
		for i, n := range normals {
			b.extreme[i], b.reach[i] = orb.Point{x, y}, x*n[0]+y*n[1]
		}
		return
	}
	b.low = [2]float64{min(b.low[0], x), min(b.low[1], y)}
	b.high = [2]float64{max(b.high[0], x), max(b.high[1], y)}
	for i, n := range normals {
		if reach := x*n[0] + y*n[1]; reach > b.reach[i] {
			b.extreme[i], b.reach[i] = orb.Point{x, y}, reach
		}
	}
}

// addGeometry adds all positions of a geometry, and returns their number.
func (b *box) addGeometry(g orb.Geometry) (n int64) {
	project.Geometry(g, func(p orb.Point) orb.Point {
		b.add(p[0], p[1])
		n++
		return p
	})
	return n
}

// outline returns the hull in longitude and latitude: a polygon, or a line or a point for positions
// that span no area; nil when they are not on the earth.
func (b *box) outline(system *crs.System) orb.Geometry {
	var ring orb.Ring
	for _, p := range b.extreme {
		lon, lat := system.ToWGS84(p[0], p[1])
		if math.IsNaN(lon+lat) || math.Abs(lat) > 90.0001 || math.Abs(lon) > 360.0001 {
			return nil
		}
		p = orb.Point{rounded(lon), rounded(min(90, max(-90, lat)))}
		if len(ring) == 0 || p != ring[len(ring)-1] {
			ring = append(ring, p)
		}
	}
	if len(ring) > 1 && ring[0] == ring[len(ring)-1] {
		ring = ring[:len(ring)-1]
	}
	switch len(ring) {
	case 1:
		return ring[0]
	case 2:
		return orb.LineString(ring)
	}
	return orb.Polygon{append(ring, ring[0])}
}

// rounded returns a degree rounded to 8 places, about a millimetre.
func rounded(degrees float64) float64 { return math.Round(degrees*1e8) / 1e8 }

// finite returns a degree rounded to a centimetre, 0 for a position off the map.
func finite(degrees float64) float64 {
	if math.IsNaN(degrees) || math.IsInf(degrees, 0) {
		return 0
	}
	return math.Round(degrees*1e7) / 1e7
}
