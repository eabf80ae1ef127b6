package vector

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/paulmach/orb"
)

// Well-known binary (OGC 06-103r4) with heights and measures, which orb cannot read; they are dropped.

var errWKB = errors.New("a geometry is damaged")

// wkb parses a geometry.
type wkb struct {
	b      []byte
	order  binary.ByteOrder
	width  int // numbers of a position
	failed bool
}

const maxNesting = 16

func readWKB(b []byte) (orb.Geometry, error) {
	r := &wkb{b: b}
	g := r.geometry(0)
	if r.failed {
		return nil, errWKB
	}
	return g, nil
}

func (r *wkb) take(n int) []byte {
	if n > len(r.b) {
		r.failed = true
		return make([]byte, min(n, 16))
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// count reads how many parts of at least size bytes follow.
func (r *wkb) count(size int) int {
	n := int64(r.order.Uint32(r.take(4)))
	if r.failed || n*int64(size) > int64(len(r.b)) {
		r.failed = true
		return 0
	}
	return int(n)
}

func (r *wkb) geometry(depth int) orb.Geometry {
	if r.order = binary.ByteOrder(binary.BigEndian); r.take(1)[0] == 1 {
		r.order = binary.LittleEndian
	}
	kind := r.order.Uint32(r.take(4))
	if r.failed || depth > maxNesting {
		r.failed = true
		return nil
	}
	r.width = 2
	dimensions := kind % 10000 / 1000 // 1 with heights, 2 with measures, 3 with both
	if dimensions == 1 || dimensions == 3 || kind&0x80000000 != 0 {
		r.width++
	}
	if dimensions >= 2 || kind&0x40000000 != 0 {
		r.width++
	}
	if kind&0x20000000 != 0 { // the system, in PostGIS
		r.take(4)
	}
	switch kind & 0xFFFF % 1000 {
	case 1:
		p := r.point()
		if math.IsNaN(p[0]) {
			return nil
		}
		return p
	case 2:
		return orb.LineString(r.line())
	case 3:
		return r.polygon()
	case 4:
		return members(r, depth, orb.MultiPoint{})
	case 5:
		return members(r, depth, orb.MultiLineString{})
	case 6:
		return members(r, depth, orb.MultiPolygon{})
	case 7:
		return members(r, depth, orb.Collection{})
	}
	r.failed = true // curves and surfaces
	return nil
}

func members[L ~[]G, G orb.Geometry](r *wkb, depth int, list L) orb.Geometry {
	for n := r.count(5); n > 0 && !r.failed; n-- {
		switch g := r.geometry(depth + 1).(type) {
		case G:
			list = append(list, g)
		case nil:
		default:
			r.failed = true
		}
	}
	return any(list).(orb.Geometry)
}

func (r *wkb) point() orb.Point {
	b := r.take(8 * r.width)
	if r.failed {
		return orb.Point{}
	}
	return orb.Point{math.Float64frombits(r.order.Uint64(b)), math.Float64frombits(r.order.Uint64(b[8:]))}
}

func (r *wkb) line() []orb.Point {
	line := make([]orb.Point, r.count(8*r.width))
	for i := range line {
		line[i] = r.point()
	}
	return line
}

func (r *wkb) polygon() orb.Polygon {
	var p orb.Polygon
	for n := r.count(4); n > 0 && !r.failed; n-- {
		p = append(p, orb.Ring(r.line()))
	}
	return p
}
