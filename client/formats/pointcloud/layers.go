package pointcloud

import "io"

// The position in the records of the formats 6 to 10. LAZ writes each part of all points of a chunk in
// a separate layer, so that position and height can be read alone.

// layered decodes the position of the points of a chunk.
type layered struct {
	plane, height decoder
	flat          bool // all heights equal the previous point's
	channels      [4]*channel
	current       int
}

// channel is the context for the points of one scanner channel.
type channel struct {
	x, y, z         int32
	number, count   uint32 // of the return
	timed           bool   // the GPS time of the last point differed from the one before
	changed         [8]*symbols
	other           *symbols
	counts, numbers [16]*symbols
	numberSameTime  *symbols
	dx, dy, dz      *integers
	xs, ys          [12]median
	heights         [8]int32
}

func newChannel(x, y, z int32, returns byte) *channel {
	c := &channel{x: x, y: y, z: z, number: uint32(returns & 15), count: uint32(returns >> 4),
		other: newSymbols(3), numberSameTime: newSymbols(13),
		dx: newIntegers(32, 2), dy: newIntegers(32, 22), dz: newIntegers(32, 20)}
	for i := range c.changed {
		c.changed[i] = newSymbols(128)
	}
	for i := range c.heights {
		c.heights[i] = z
	}
	return c
}

// newLayered reads the start of a chunk: the first record, the number of points and the lengths of all layers.
func newLayered(r io.ReaderAt, at, end int64, record []byte, layers int) (*layered, error) {
	s := newStream(r, at, end)
	s.raw(record)
	lengths := make([]byte, 4+4*layers)
	s.raw(lengths)
	if s.beyond > 0 {
		return nil, io.ErrUnexpectedEOF
	}
	l := &layered{}
	at += int64(len(record) + len(lengths))
	plane, height := int64(little.Uint32(lengths[4:])), int64(little.Uint32(lengths[8:]))
	if plane+height > end-at {
		return nil, io.ErrUnexpectedEOF
	}
	l.plane.stream = newStream(r, at, at+plane)
	l.height.stream = newStream(r, at+plane, at+plane+height)
	l.plane.begin()
	if l.flat = height == 0; !l.flat {
		l.height.begin()
	}
	l.current = int(record[15] >> 4 & 3)
	l.channels[l.current] = newChannel(int32(little.Uint32(record)), int32(little.Uint32(record[4:])),
		int32(little.Uint32(record[8:])), record[14])
	return l, nil
}

// next decodes the position of the next point into a record.
func (l *layered) next(record []byte) error {
	d, c := &l.plane, l.channels[l.current]
	context := 0
	if c.number == 1 {
		context = 1
	}
	if c.number >= c.count {
		context += 2
	}
	if c.timed {
		context += 4
	}
	changed := d.symbol(c.changed[context])
	if changed&64 != 0 {
		l.current = (l.current + int(d.symbol(c.other)) + 1) & 3
		if l.channels[l.current] == nil {
			l.channels[l.current] = newChannel(c.x, c.y, c.z, byte(c.count<<4|c.number))
		}
		c = l.channels[l.current]
	}
	c.timed = changed&16 != 0
	if changed&4 != 0 {
		c.count = d.symbol(model(&c.counts[c.count], 16))
	}
	switch changed & 3 {
	case 1:
		c.number = (c.number + 1) & 15
	case 2:
		c.number = (c.number + 15) & 15
	case 3:
		if c.timed {
			c.number = d.symbol(model(&c.numbers[c.number], 16))
		} else {
			c.number = (c.number + d.symbol(c.numberSameTime) + 2) & 15
		}
	}
	m := int(returnContexts[c.count][c.number]) << 1
	if c.timed {
		m++
	}
	single := uint32(0)
	if c.count == 1 {
		single = 1
	}
	dx := c.dx.decode(d, c.xs[m].get(), single)
	c.xs[m].add(dx)
	dy := c.dy.decode(d, c.ys[m].get(), single+min(c.dx.k&^1, 20))
	c.ys[m].add(dy)
	c.x, c.y = c.x+dx, c.y+dy
	if !l.flat {
		level := min(max(c.count, c.number)-min(c.count, c.number), 7)
		c.z = c.dz.decode(&l.height, c.heights[level], single+min((c.dx.k+c.dy.k)/2&^1, 18))
		c.heights[level] = c.z
	}
	little.PutUint32(record, uint32(c.x))
	little.PutUint32(record[4:], uint32(c.y))
	little.PutUint32(record[8:], uint32(c.z))
	if d.err != nil {
		return d.err
	}
	return l.height.err
}

// returnContexts groups the pairs of number of returns and return number, including invalid ones.
var returnContexts = [16][16]uint8{
	{0, 1, 2, 3, 4, 5, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5},
	{1, 0, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3},
	{2, 1, 2, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3},
	{3, 3, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
	{4, 3, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
	{5, 3, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
	{3, 3, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4},
	{4, 3, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4},
	{4, 3, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4},
	{5, 3, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4},
	{5, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4},
	{5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 4, 4, 4},
	{5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4, 4},
	{5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4},
	{5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5},
	{5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5},
}
