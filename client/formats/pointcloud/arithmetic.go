package pointcloud

import "io"

// The entropy coder of LAZ: arithmetic coding with adaptive models (A. Said,
// "Introduction to Arithmetic Coding", HP Labs 2004) over 32 bits.

const (
	symbolShift = 15 // bits of a length dropped before a product, for symbols
	bitShift    = 13 // likewise for bits
	minLength   = 1 << 24
)

// stream reads the bytes of a section one by one.
type stream struct {
	r      io.ReaderAt
	at     int64 // of the next byte
	end    int64
	buffer []byte
	next   int
	beyond int   // zero bytes read after the end
	err    error // why no more points can be read
}

const bufferSize = 16 << 10

func newStream(r io.ReaderAt, at, end int64) *stream { return &stream{r: r, at: at, end: end} }

// slack is how far beyond the end a decoder may look ahead.
const slack = 8

func (s *stream) byte() uint32 {
	if s.next == len(s.buffer) {
		s.fill()
	}
	b := s.buffer[s.next]
	s.next++
	return uint32(b)
}

func (s *stream) fill() {
	s.next = 0
	if n := min(bufferSize, s.end-s.at); n > 0 && s.err == nil {
		if cap(s.buffer) < bufferSize {
			s.buffer = make([]byte, bufferSize)
		}
		s.buffer = s.buffer[:n]
		read, err := s.r.ReadAt(s.buffer, s.at)
		if s.at += int64(read); read == int(n) {
			return
		}
		if s.err = err; err == io.EOF {
			s.err = io.ErrUnexpectedEOF
		}
	}
	s.buffer = append(s.buffer[:0], 0)
	if s.beyond++; s.beyond > slack && s.err == nil {
		s.err = io.ErrUnexpectedEOF
	}
}

// raw reads uncoded bytes.
func (s *stream) raw(b []byte) {
	for i := range b {
		b[i] = byte(s.byte())
	}
}

// decoder decodes symbols from a stream.
type decoder struct {
	*stream
	value, length uint32
}

// begin reads the first bytes of a coded section.
func (d *decoder) begin() {
	d.length, d.value = 1<<32-1, 0
	for range 4 {
		d.value = d.value<<8 | d.byte()
	}
}

func (d *decoder) normalize() {
	for d.length < minLength {
		d.value = d.value<<8 | d.byte()
		d.length <<= 8
		if d.length == 0 { // only for damaged data
			d.length = 1<<32 - 1
		}
	}
}

// symbol decodes a number below the size of its model.
func (d *decoder) symbol(m *symbols) uint32 {
	whole := d.length
	d.length >>= symbolShift
	low, high := uint32(0), uint32(len(m.counts))
	target := d.value / d.length
	if m.table != nil {
		t := min(int(target>>m.tableShift), len(m.table)-2)
		low, high = m.table[t], m.table[t+1]+1
	}
	for high > low+1 {
		if middle := (low + high) / 2; m.limits[middle] > target {
			high = middle
		} else {
			low = middle
		}
	}
	from, to := m.limits[low]*d.length, whole
	if int(low)+1 < len(m.limits) {
		to = m.limits[low+1] * d.length
	}
	d.value -= from
	d.length = to - from
	d.normalize()
	m.count(low)
	return low
}

// bit decodes 0 or 1.
func (d *decoder) bit(m *bits) uint32 {
	split := m.zero * (d.length >> bitShift)
	if d.value < split {
		d.length = split
		d.normalize()
		m.count(0)
		return 0
	}
	d.value -= split
	d.length -= split
	d.normalize()
	m.count(1)
	return 1
}

// plain decodes n bits without a model.
func (d *decoder) plain(n uint32) uint32 {
	if n > 19 {
		low := d.plain(16)
		return d.plain(n-16)<<16 | low
	}
	d.length >>= n
	v := d.value / d.length
	d.value -= d.length * v
	d.normalize()
	return v
}

// symbols is an adaptive model of numbers below a limit.
type symbols struct {
	counts, limits []uint32 // limits are the cumulative frequencies
	table          []uint32 // start positions for searching limits; nil for few symbols
	tableShift     uint32
	total          uint32
	cycle, left    uint32 // symbols between two updates, and until the next one
}

func newSymbols(n int) *symbols {
	numbers := make([]uint32, 2*n)
	m := &symbols{counts: numbers[:n], limits: numbers[n:], cycle: uint32(n)}
	if n > 16 {
		bits := uint32(3)
		for n > 1<<(bits+2) {
			bits++
		}
		m.table, m.tableShift = make([]uint32, 1<<bits+2), symbolShift-bits
	}
	for i := range m.counts {
		m.counts[i] = 1
	}
	m.update()
	m.cycle = uint32(n+6) >> 1
	m.left = m.cycle
	return m
}

func (m *symbols) count(symbol uint32) {
	m.counts[symbol]++
	if m.left--; m.left == 0 {
		m.update()
	}
}

func (m *symbols) update() {
	if m.total += m.cycle; m.total > 1<<symbolShift {
		m.total = 0
		for i, n := range m.counts {
			m.counts[i] = (n + 1) >> 1
			m.total += m.counts[i]
		}
	}
	scale, sum, s := 1<<31/m.total, uint32(0), 0
	for i, n := range m.counts {
		m.limits[i] = scale * sum >> (31 - symbolShift)
		sum += n
		if m.table != nil {
			for w := int(m.limits[i] >> m.tableShift); s < w; {
				s++
				m.table[s] = uint32(i - 1)
			}
		}
	}
	if m.table != nil {
		m.table[0] = 0
		for s < len(m.table)-1 {
			s++
			m.table[s] = uint32(len(m.counts) - 1)
		}
	}
	m.cycle = min(5*m.cycle>>2, uint32(len(m.counts)+6)<<3)
	m.left = m.cycle
}

// bits is an adaptive model of 0 and 1.
type bits struct{ zeros, total, zero, cycle, left uint32 }

func newBits() bits { return bits{zeros: 1, total: 2, zero: 1 << (bitShift - 1), cycle: 4, left: 4} }

func (m *bits) count(bit uint32) {
	if bit == 0 {
		m.zeros++
	}
	if m.left--; m.left > 0 {
		return
	}
	if m.total += m.cycle; m.total > 1<<bitShift {
		m.total, m.zeros = (m.total+1)>>1, (m.zeros+1)>>1
		if m.zeros == m.total {
			m.total++
		}
	}
	m.zero = m.zeros * (1 << 31 / m.total) >> (31 - bitShift)
	m.cycle = min(5*m.cycle>>2, 64)
	m.left = m.cycle
}

// integers decodes the differences of integers from their predictions.
type integers struct {
	k         uint32 // bits of the last difference
	span      int32  // values wrap around at it; 0 for 32 bits
	lowest    int32
	sizes     []*symbols // of k, by context
	zero      bits
	corrector []*symbols // of the upper bits, by k
}

// upperBits is how many bits of a difference are modelled.
const upperBits = 8

func newIntegers(width, contexts int) *integers {
	d := &integers{zero: newBits(), lowest: -1 << 31}
	if width < 32 {
		d.span = 1 << width
		d.lowest = -d.span / 2
	}
	for range contexts {
		d.sizes = append(d.sizes, newSymbols(width+1))
	}
	d.corrector = make([]*symbols, width+1)
	return d
}

func (n *integers) decode(d *decoder, predicted int32, context uint32) int32 {
	n.k = d.symbol(n.sizes[context])
	value := predicted + n.difference(d)
	if value < 0 {
		value += n.span
	} else if n.span != 0 && value >= n.span {
		value -= n.span
	}
	return value
}

func (n *integers) difference(d *decoder) int32 {
	switch {
	case n.k == 0:
		return int32(d.bit(&n.zero))
	case n.k >= 32:
		return n.lowest
	}
	m := n.corrector[n.k]
	if m == nil { // few sizes occur, so create it on demand
		m = newSymbols(1 << min(n.k, upperBits))
		n.corrector[n.k] = m
	}
	c := d.symbol(m)
	if n.k > upperBits {
		lower := n.k - upperBits
		c = c<<lower | d.plain(lower)
	}
	if c >= 1<<(n.k-1) {
		return int32(c + 1)
	}
	return int32(c) - (1<<n.k - 1)
}

// median tracks the median of the last five values.
type median struct {
	values [5]int32
	low    bool
}

func (m *median) get() int32 { return m.values[2] }

func (m *median) add(v int32) {
	a := &m.values
	if !m.low {
		switch {
		case v < a[2]:
			a[4], a[3] = a[3], a[2]
			switch {
			case v < a[0]:
				a[2], a[1], a[0] = a[1], a[0], v
			case v < a[1]:
				a[2], a[1] = a[1], v
			default:
				a[2] = v
			}
		case v < a[3]:
			a[4], a[3] = a[3], v
			m.low = true
		default:
			a[4] = v
			m.low = true
		}
		return
	}
	switch {
	case a[2] < v:
		a[0], a[1] = a[1], a[2]
		switch {
		case a[4] < v:
			a[2], a[3], a[4] = a[3], a[4], v
		case a[3] < v:
			a[2], a[3] = a[3], v
		default:
			a[2] = v
		}
	case a[1] < v:
		a[0], a[1] = a[1], v
		m.low = false
	default:
		a[0] = v
		m.low = false
	}
}
