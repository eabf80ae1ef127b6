package jpegcheck

// frame is the header of the picture (B.2.2).
type frame struct {
	precision     int
	width, height int
	maxH, maxV    int
	mcusX, mcusY  int
	components    []*component
}

// component is one of the colours of a picture.
type component struct {
	id         byte
	h, v       int // sampling factors
	quantizer  byte
	wide, high int // in blocks, in scans of this component alone
	stride     int // blocks in a row, in scans of several components
	scanned    bool
	// nonzero has a bit for each coefficient of each block that is nonzero so far, for progressive pictures.
	nonzero []uint64

	// State of the current scan: the tables, the sum of the DC coefficients, and its limit. Encoders
	// that sharpen edges slightly exceed the range of pixels.
	dcTable, acTable *table
	dc, maxDC        int
}

func (p *picture) readFrame(data []byte, progressive bool) error {
	if p.frame.components != nil {
		return ErrUnsupported // hierarchical
	}
	if len(data) < 6 || len(data) != 6+3*int(data[5]) || data[5] == 0 || data[5] > 4 || data[0] != 8 && data[0] != 12 {
		return p.damage("the header of its pixels is invalid")
	}
	f := frame{precision: int(data[0]), height: int(data[1])<<8 | int(data[2]), width: int(data[3])<<8 | int(data[4])}
	if f.height == 0 {
		return ErrUnsupported // a DNL segment holds the height
	}
	if f.width == 0 {
		return p.damage("it has no size")
	}
	for d := data[6:]; len(d) > 0; d = d[3:] {
		c := &component{id: d[0], h: int(d[1] >> 4), v: int(d[1] & 15), quantizer: d[2]}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.quantizer > 3 {
			return p.damage("the header of its pixels is invalid")
		}
		f.maxH, f.maxV = max(f.maxH, c.h), max(f.maxV, c.v)
		f.components = append(f.components, c)
	}
	f.mcusX, f.mcusY = ceil(f.width, 8*f.maxH), ceil(f.height, 8*f.maxV)
	for _, c := range f.components {
		c.wide, c.high = ceil(ceil(f.width*c.h, f.maxH), 8), ceil(ceil(f.height*c.v, f.maxV), 8)
		c.stride = f.mcusX * c.h
		if blocks := c.stride * f.mcusY * c.v; progressive {
			if err := p.reserve(int64(blocks) * 8); err != nil {
				return err
			}
			c.nonzero = make([]uint64, blocks)
		}
	}
	p.frame, p.progressive = f, progressive
	return nil
}

func ceil(a, b int) int { return (a + b - 1) / b }

// component returns the component with an id, nil without one.
func (f *frame) component(id byte) *component {
	for _, c := range f.components {
		if c.id == id {
			return c
		}
	}
	return nil
}
