package pointcloud

import "encoding/binary"

// The parts of a point record as LAZ compresses them for the formats 0 to 5, in its second version. A
// record holds the values of the previous point, and receives the next one's.

var little = binary.LittleEndian

// item decodes one part of the records of a chunk.
type item interface {
	// size is the length of the part in bytes.
	size() int
	next(d *decoder, part []byte)
}

// core is the first part of the formats 0 to 5.
type core struct {
	changed                    *symbols
	angle                      [2]*symbols
	returns, class, user       [256]*symbols
	intensity, source, x, y, z *integers
	lastIntensity              [16]uint16
	xs, ys                     [16]median
	heights                    [8]int32
}

func newCore() *core {
	return &core{
		changed: newSymbols(64), angle: [2]*symbols{newSymbols(256), newSymbols(256)},
		intensity: newIntegers(16, 4), source: newIntegers(16, 1),
		x: newIntegers(32, 2), y: newIntegers(32, 22), z: newIntegers(32, 20),
	}
}

func (c *core) size() int { return 20 }

func (c *core) next(d *decoder, p []byte) {
	changed := d.symbol(c.changed)
	if changed&32 != 0 {
		p[14] = byte(d.symbol(model(&c.returns[p[14]], 256)))
	}
	number, count := p[14]&7, p[14]>>3&7
	m, l := returnMap[count][number], max(count, number)-min(count, number)
	if changed&16 != 0 {
		c.lastIntensity[m] = uint16(c.intensity.decode(d, int32(c.lastIntensity[m]), min(uint32(m), 3)))
	}
	little.PutUint16(p[12:], c.lastIntensity[m])
	if changed&8 != 0 {
		p[15] = byte(d.symbol(model(&c.class[p[15]], 256)))
	}
	if changed&4 != 0 {
		p[16] += byte(d.symbol(c.angle[p[14]>>6&1]))
	}
	if changed&2 != 0 {
		p[17] = byte(d.symbol(model(&c.user[p[17]], 256)))
	}
	if changed&1 != 0 {
		little.PutUint16(p[18:], uint16(c.source.decode(d, int32(little.Uint16(p[18:])), 0)))
	}
	single := uint32(0)
	if count == 1 {
		single = 1
	}
	dx := c.x.decode(d, c.xs[m].get(), single)
	c.xs[m].add(dx)
	dy := c.y.decode(d, c.ys[m].get(), single+min(c.x.k&^1, 20))
	c.ys[m].add(dy)
	c.heights[l] = c.z.decode(d, c.heights[l], single+min((c.x.k+c.y.k)/2&^1, 18))
	little.PutUint32(p, little.Uint32(p)+uint32(dx))
	little.PutUint32(p[4:], little.Uint32(p[4:])+uint32(dy))
	little.PutUint32(p[8:], uint32(c.heights[l]))
}

// model returns a model, creating it on first use.
func model(m **symbols, n int) *symbols {
	if *m == nil {
		*m = newSymbols(n)
	}
	return *m
}

// returnMap numbers the pairs of number of returns and return number, including invalid ones.
var returnMap = [8][8]uint8{
	{15, 14, 13, 12, 11, 10, 9, 8}, {14, 0, 1, 3, 6, 10, 10, 9}, {13, 1, 2, 4, 7, 11, 11, 10}, {12, 3, 4, 5, 8, 12, 12,
		11},
	{11, 6, 7, 8, 9, 13, 13, 12}, {10, 10, 11, 12, 13, 14, 14, 13}, {9, 10, 11, 12, 13, 14, 15, 14}, {8, 9, 10, 11, 12, 13,
		14, 15},
}

// clock is the GPS time: the bits of a double, as an integer. Four sequences of
// times may alternate.
type clock struct {
	multiple, unmoved *symbols
	difference        *integers
	last, newest      int
	times             [4]int64
	steps, odd        [4]int32 // odd counts the differences that were not small multiples of the step
}

// Multiples of the last step; the codes after the largest are negative ones.
const (
	largest  = 500
	negative = 10
	same     = largest + negative + 1
	switched = largest + negative + 2 // the following codes select another sequence
)

func newClock() *clock {
	return &clock{multiple: newSymbols(switched + 4), unmoved: newSymbols(6), difference: newIntegers(32, 9)}
}

func (c *clock) size() int         { return 8 }
func (c *clock) first(part []byte) { c.times[0] = int64(little.Uint64(part)) }

func (c *clock) next(d *decoder, part []byte) {
	for c.step(d) && d.err == nil {
	}
	little.PutUint64(part, uint64(c.times[c.last]))
}

// step decodes a time, or returns true after switching to another sequence.
func (c *clock) step(d *decoder) (again bool) {
	i := c.last
	if c.steps[i] == 0 {
		switch code := d.symbol(c.unmoved); code {
		case 0:
		case 1:
			c.steps[i] = c.difference.decode(d, 0, 0)
			c.times[i] += int64(c.steps[i])
			c.odd[i] = 0
		case 2:
			c.begin(d)
		default:
			c.last = (i + int(code) - 2) & 3
			return true
		}
		return false
	}
	code := int32(d.symbol(c.multiple))
	switch {
	case code == 1:
		c.times[i] += int64(c.difference.decode(d, c.steps[i], 1))
		c.odd[i] = 0
	case code < same:
		context, by, counts := uint32(3), code, false
		switch {
		case code == 0:
			context, counts = 7, true
		case code < 10:
			context = 2
		case code == largest:
			context, counts = 4, true
		case code == largest+negative:
			context, by, counts = 6, -negative, true
		case code > largest:
			context, by = 5, largest-code
		}
		moved := c.difference.decode(d, by*c.steps[i], context)
		if counts {
			if c.odd[i]++; c.odd[i] > 3 {
				c.steps[i], c.odd[i] = moved, 0
			}
		}
		c.times[i] += int64(moved)
	case code == switched:
		c.begin(d)
	case code > switched:
		c.last = (i + int(code-switched)) & 3
		return true
	}
	return false
}

// begin starts another sequence.
func (c *clock) begin(d *decoder) {
	c.newest = (c.newest + 1) & 3
	upper := c.difference.decode(d, int32(c.times[c.last]>>32), 8)
	c.times[c.newest] = int64(upper)<<32 | int64(d.plain(32))
	c.last = c.newest
	c.steps[c.last], c.odd[c.last] = 0, 0
}

// colour is red, green and blue of 16 bits each.
type colour struct {
	changed *symbols
	parts   [6]*symbols // the lower and the upper byte of each colour
}

func newColour() *colour {
	c := &colour{changed: newSymbols(128)}
	for i := range c.parts {
		c.parts[i] = newSymbols(256)
	}
	return c
}

func (c *colour) size() int { return 6 }

func (c *colour) next(d *decoder, p []byte) {
	changed := d.symbol(c.changed)
	last := [6]byte(p)
	part := func(i int, predicted int) {
		if changed&(1<<i) != 0 {
			p[i] = byte(min(max(predicted, 0), 255)) + byte(d.symbol(c.parts[i]))
		}
	}
	part(0, int(last[0]))
	part(1, int(last[1]))
	if changed&64 == 0 { // grey
		p[2], p[3], p[4], p[5] = p[0], p[1], p[0], p[1]
		return
	}
	for i := range 2 {
		moved := int(p[i]) - int(last[i])
		part(2+i, int(last[2+i])+moved)
		moved = (moved + int(p[2+i]) - int(last[2+i])) / 2
		part(4+i, int(last[4+i])+moved)
	}
}

// extra are bytes of unknown meaning.
type extra struct{ models []*symbols }

func newExtra(n int) *extra {
	e := &extra{}
	for range n {
		e.models = append(e.models, newSymbols(256))
	}
	return e
}

func (e *extra) size() int { return len(e.models) }

func (e *extra) next(d *decoder, part []byte) {
	for i, m := range e.models {
		part[i] += byte(d.symbol(m))
	}
}
