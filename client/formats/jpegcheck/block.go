package jpegcheck

import "math/bits"

// symbol reads the next symbol of a table; it returns false for an invalid code.
func (p *picture) symbol(t *table) (byte, bool) {
	if p.left < 32 {
		p.fill()
	}
	entry := t.short[p.word>>(64-peek)]
	value, length := byte(entry), int(entry>>8)
	if entry == 0 {
		value, length = t.long(int(p.word >> 48))
	}
	p.word <<= uint(length)
	p.left -= length
	return value, length > 0
}

// sequential reads a block of a picture that is not progressive (F.2.2). The next bits are kept in
// local variables, which is much faster.
func (p *picture) sequential(c *component, block int) bool {
	if !p.firstDC(c, block) {
		return false
	}
	t, next, left := c.acTable, p.word, p.left
	k := 1
	for k < 64 {
		if left < 32 {
			p.word, p.left = next, left
			p.fill()
			next, left = p.word, p.left
		}
		entry := t.short[next>>(64-peek)]
		value, length := byte(entry), int(entry>>8)
		if entry == 0 {
			if value, length = t.long(int(next >> 48)); length == 0 {
				return false
			}
		}
		length += int(value & 15)
		next <<= uint(length) & 63
		left -= length
		if value&15 == 0 && value != 0xF0 {
			if value != 0 {
				return false
			}
			break
		}
		k += int(value>>4) + 1
	}
	p.word, p.left = next, left
	return k <= 64
}

// firstDC reads a DC coefficient, or the first bits of it (F.2.2.1, G.1.2.1). It is relative to the
// previous ones, so missing data soon leads out of the range of pixels.
func (p *picture) firstDC(c *component, _ int) bool {
	size, ok := p.symbol(c.dcTable)
	if !ok || size > 15 {
		return false
	}
	change := p.take(int(size))
	if size > 0 && change < 1<<(size-1) {
		change -= 1<<size - 1
	}
	c.dc += change
	return c.dc <= c.maxDC && c.dc >= -c.maxDC
}

// refineDC reads one more bit of a DC coefficient.
func (p *picture) refineDC(*component, int) bool {
	p.take(1)
	return true
}

// firstAC reads the first bits of AC coefficients (G.1.2.2).
func (p *picture) firstAC(c *component, block int) bool {
	if p.endRun > 0 {
		p.endRun--
		return true
	}
	nonzero := &c.nonzero[block]
	k := p.from
	for k <= p.to {
		value, ok := p.symbol(c.acTable)
		if !ok {
			return false
		}
		run, size := int(value>>4), int(value&15)
		switch {
		case size == 0 && run < 15:
			p.endRun = 1<<run + p.take(run) - 1
			return true
		case size > 0:
			p.take(size)
			*nonzero |= 1 << (k + run)
		}
		k += run + 1
	}
	return k == p.to+1
}

// refineAC reads one more bit of AC coefficients, and those that were zero so far
// (G.1.2.3). Runs count only coefficients that were zero; the others have a bit each.
func (p *picture) refineAC(c *component, block int) bool {
	nonzero := &c.nonzero[block]
	k := p.from
	for p.endRun == 0 && k <= p.to {
		value, ok := p.symbol(c.acTable)
		if !ok {
			return false
		}
		run, size := int(value>>4), int(value&15)
		switch {
		case size == 0 && run < 15:
			p.endRun = 1<<run + p.take(run)
			continue
		case size > 1:
			return false
		}
		p.take(size) // its sign
		for ; k <= p.to; k++ {
			if *nonzero>>k&1 == 1 {
				p.take(1)
			} else if run--; run < 0 {
				break
			}
		}
		if size == 1 {
			if k > p.to {
				return false
			}
			*nonzero |= 1 << k
		}
		k++
	}
	if p.endRun > 0 {
		p.endRun--
		for rest := bits.OnesCount64(*nonzero & p.band() >> k << k); rest > 0; rest -= min(16, rest) {
			p.take(min(16, rest))
		}
	}
	return true
}

// band returns a mask of the coefficients of the current scan.
func (p *picture) band() uint64 { return 1<<(p.to+1) - 1<<p.from }
