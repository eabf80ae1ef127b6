package jpegcheck

// scanned is the state of the current scan.
type scanned struct {
	components []*component
	from, to   int // coefficients
	endRun     int // blocks without any more coefficients in the scan
}

// scan reads a scan: its header (B.2.3) and its MCUs.
func (p *picture) scan(data []byte) error {
	read, err := p.readScan(data)
	if err != nil {
		return err
	}
	p.word, p.left = 0, 0
	p.row, p.rows = 0, p.frame.mcusY
	wide := p.frame.mcusX
	if len(p.components) == 1 {
		wide, p.rows = p.components[0].wide, p.components[0].high
	}
	for mcu, restarts := 0, 0; mcu < wide*p.rows; mcu++ {
		if mcu%wide == 0 {
			if p.row = mcu / wide; p.ctx.Err() != nil {
				return p.ctx.Err()
			}
		}
		if p.interval > 0 && mcu%p.interval == 0 && mcu > 0 {
			if err := p.restart(restarts); err != nil {
				return err
			}
			restarts++
		}
		if err := p.mcu(read, mcu%wide, mcu/wide); err != nil {
			return err
		}
	}
	p.row = p.rows
	return p.over()
}

// readScan reads the header of a scan and returns the function that reads its blocks.
func (p *picture) readScan(data []byte) (read func(*component, int) bool, err error) {
	invalid := p.damage("the header of a scan is invalid")
	if len(data) < 1 || len(data) != 4+2*int(data[0]) || data[0] < 1 || data[0] > 4 {
		return nil, invalid
	}
	n := int(data[0])
	p.scanned = scanned{from: int(data[1+2*n]), to: int(data[2+2*n])}
	high, low := data[3+2*n]>>4, data[3+2*n]&15
	dc, ac := !p.progressive || p.from == 0, !p.progressive || p.from > 0
	switch {
	case p.progressive && (p.to > 63 || p.from > p.to || p.from == 0 && p.to > 0 || p.from > 0 && n > 1),
		p.progressive && (low > 13 || high > 0 && high != low+1):
		return nil, invalid
	case dc && p.progressive && high > 0:
		read, dc = p.refineDC, false
	case p.progressive && p.from == 0:
		read = p.firstDC
	case p.progressive && high > 0:
		read = p.refineAC
	case p.progressive:
		read = p.firstAC
	default:
		read = p.sequential
	}
	for ; n > 0; n-- {
		c := p.frame.component(data[1])
		if c == nil || data[2]>>4 > 3 || data[2]&15 > 3 || p.quantizer[c.quantizer] == 0 {
			return nil, invalid
		}
		c.dcTable, c.acTable = p.huffman[0][data[2]>>4], p.huffman[1][data[2]&15]
		if dc && c.dcTable == nil || ac && c.acTable == nil {
			return nil, p.damage("a Huffman table is missing")
		}
		c.dc, c.maxDC = 0, (5<<(p.frame.precision)/p.quantizer[c.quantizer]+1)>>low
		c.scanned = c.scanned || p.from == 0
		p.components = append(p.components, c)
		data = data[2:]
	}
	return read, nil
}

// mcu reads the blocks of an MCU (A.2).
func (p *picture) mcu(read func(*component, int) bool, x, y int) error {
	if len(p.components) == 1 {
		c := p.components[0]
		return p.block(read, c, y*c.stride+x)
	}
	for _, c := range p.components {
		for v := range c.v {
			for h := range c.h {
				if err := p.block(read, c, (y*c.v+v)*c.stride+x*c.h+h); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *picture) block(read func(*component, int) bool, c *component, at int) error {
	if !read(c, at) {
		return p.damage("its pixel data is not valid")
	}
	if p.left < 0 {
		return p.damage("pixel data is missing")
	}
	return nil
}

// restart reads the restart marker with a number and resets the bit reader.
func (p *picture) restart(number int) error {
	if err := p.over(); err != nil {
		return err
	}
	for _, c := range p.components {
		c.dc = 0
	}
	marker, err := p.marker()
	if err == nil && marker != rst0+byte(number%8) {
		err = p.damage("the restart marker %d is missing", number%8)
	}
	return err
}

// over returns the error for excess pixel data.
func (p *picture) over() error {
	over := p.close()
	if p.endRun > 0 {
		return p.damage("pixel data is missing")
	}
	if over > 0 {
		return p.damage("%d bytes of pixel data are left over", over)
	}
	return nil
}
