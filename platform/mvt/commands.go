package mvt

import (
	"math"
	"slices"

	"github.com/paulmach/orb"
	"google.golang.org/protobuf/encoding/protowire"
)

// The kinds of shapes, and the commands that draw them.
const (
	tilePoint, tileLine, tilePolygon = 1, 2, 3
	moveTo, lineTo, closePath        = 1, 2, 7
)

// commands are the positions of a feature, each relative to the one before.
type commands struct {
	list []uint64
	x, y int64
}

// add draws the shapes of one kind.
func (c *commands) add(kind uint64, g orb.Geometry) {
	switch g := g.(type) {
	case orb.Point:
		c.add(kind, orb.MultiPoint{g})
	case orb.MultiPoint:
		if kind == tilePoint && len(g) > 0 {
			c.command(moveTo, len(g))
			for _, p := range g {
				c.to(grid(p))
			}
		}
	case orb.LineString:
		if line := gridLine(g); kind == tileLine && len(line) > 1 {
			c.line(line)
		}
	case orb.MultiLineString:
		for _, l := range g {
			c.add(kind, l)
		}
	case orb.Polygon:
		if kind == tilePolygon {
			c.polygon(g)
		}
	case orb.MultiPolygon:
		for _, p := range g {
			c.add(kind, p)
		}
	case orb.Collection:
		for _, m := range g {
			c.add(kind, m)
		}
	}
}

func (c *commands) command(id, count int) { c.list = append(c.list, uint64(id|count<<3)) }

func (c *commands) to(p [2]int64) {
	c.list = append(c.list, protowire.EncodeZigZag(p[0]-c.x), protowire.EncodeZigZag(p[1]-c.y))
	c.x, c.y = p[0], p[1]
}

func (c *commands) line(line [][2]int64) {
	c.command(moveTo, 1)
	c.to(line[0])
	c.command(lineTo, len(line)-1)
	for _, p := range line[1:] {
		c.to(p)
	}
}

// polygon draws the outer ring with a positive area, holes with a negative one.
func (c *commands) polygon(p orb.Polygon) {
	for i, r := range p {
		ring := gridLine(orb.LineString(r))
		if len(ring) > 1 && ring[0] == ring[len(ring)-1] {
			ring = ring[:len(ring)-1]
		}
		area := int64(0)
		for j, a := range ring {
			b := ring[(j+1)%len(ring)]
			area += a[0]*b[1] - b[0]*a[1]
		}
		if len(ring) < 3 || area == 0 {
			if i == 0 {
				return // too small to be seen, with its holes
			}
			continue
		}
		if area > 0 != (i == 0) {
			slices.Reverse(ring)
		}
		c.line(ring)
		c.command(closePath, 1)
	}
}

func grid(p orb.Point) [2]int64 { return [2]int64{int64(math.Round(p[0])), int64(math.Round(p[1]))} }

// gridLine is a line without steps that are too small to be seen.
func gridLine(l orb.LineString) [][2]int64 {
	line := make([][2]int64, 0, len(l))
	for _, p := range l {
		line = append(line, grid(p))
	}
	return slices.Compact(line)
}
