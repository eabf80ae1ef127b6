package pointcloud

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// packing describes the compression of a LAZ file: the record "laszip encoded" of its header.
type packing struct {
	compressor uint16 // 1 for one run, 2 for chunks, 3 for chunks in layers
	chunkSize  uint32 // points of a chunk, or variable
	items      []packedItem
}

type packedItem struct{ kind, size, version uint16 }

const (
	oneRun   = 1
	inLayers = 3
	variable = math.MaxUint32
)

// The kinds of items.
const (
	itemByte   = 0
	itemCore   = 6
	itemClock  = 7
	itemColour = 8
	itemLayers = 10 // and the following ones
)

// layersOf is the number of layers of the items from itemLayers on; 0 means one per byte.
var layersOf = [...]int{9, 1, 2, 1, 0}

func newPacking(data []byte) (*packing, error) {
	damaged := errors.New("its header is damaged: its compression settings are invalid")
	if len(data) < 34 {
		return nil, damaged
	}
	p := &packing{compressor: little.Uint16(data), chunkSize: little.Uint32(data[12:])}
	n := int(little.Uint16(data[32:]))
	if data = data[34:]; n == 0 || len(data) < 6*n {
		return nil, damaged
	}
	for ; n > 0; n, data = n-1, data[6:] {
		p.items = append(p.items, packedItem{little.Uint16(data), little.Uint16(data[2:]), little.Uint16(data[4:])})
	}
	if p.compressor < oneRun || p.compressor > inLayers || p.chunkSize == 0 && p.compressor != oneRun {
		return nil, fmt.Errorf("its LAZ compression (%d) is not supported", p.compressor)
	}
	for i, item := range p.items {
		known := item.version == 2 && (item.kind == itemByte || item.kind >= itemCore && item.kind <= itemColour)
		if p.compressor == inLayers {
			known = (item.version == 3 || item.version == 4) && item.kind >= itemLayers &&
				int(item.kind-itemLayers) < len(layersOf)
		}
		if begins := item.kind == itemCore || item.kind == itemLayers; !known || begins != (i == 0) {
			return nil, fmt.Errorf("its LAZ compression is not supported (item %d, version %d)", item.kind, item.version)
		}
	}
	return p, nil
}

// chunks reads the positions of the chunks from the table at the end of the file.
func (p *packing) chunks(c *Cloud) ([]chunk, error) {
	if p.length() != c.length {
		return nil, errors.New("its header is damaged: it has two lengths of a point")
	}
	if c.Count == 0 {
		return nil, nil
	}
	if p.compressor == oneRun {
		return []chunk{{c.points, c.size, c.Count}}, nil
	}
	at, ok := c.integer(c.points)
	if ok && at <= c.points { // it was unknown when the points were written
		at, ok = c.integer(c.size - 8)
	}
	missing := errors.New("it is cut short: the table of its chunks is missing")
	if !ok || at <= c.points+8 || at+8 > c.size {
		return nil, missing
	}
	s := newStream(c.r, at, c.size)
	var head [8]byte
	s.raw(head[:])
	n := int64(little.Uint32(head[4:]))
	if n > (at-c.points-8)/int64(p.length())+1 || n > c.Count { // each begins with an uncompressed record
		return nil, errors.New("the table of its chunks is damaged")
	}
	d := &decoder{stream: s}
	d.begin()
	sizes := newIntegers(32, 2)
	var all []chunk
	var points, bytes int32
	left := c.Count
	for from := c.points + 8; n > 0; n-- {
		if points = int32(min(p.chunkSize, math.MaxInt32)); p.chunkSize == variable {
			before := int32(0)
			if len(all) > 0 {
				before = int32(all[len(all)-1].points)
			}
			points = sizes.decode(d, before, 0)
		}
		bytes = sizes.decode(d, bytes, 1)
		run := chunk{from, from + int64(bytes), min(int64(uint32(points)), left)}
		if d.err != nil || bytes <= 0 || run.end > at {
			return nil, errors.New("the table of its chunks is damaged")
		}
		if from, left = run.end, left-run.points; run.points > 0 {
			all = append(all, run)
		}
	}
	if left > 0 {
		return nil, c.cut(c.Count - left)
	}
	return all, nil
}

// length returns the length of a record.
func (p *packing) length() (n int) {
	for _, item := range p.items {
		n += int(item.size)
	}
	return n
}

// integer reads an integer at an offset of the file.
func (c *Cloud) integer(at int64) (int64, bool) {
	var b [8]byte
	if n, _ := c.r.ReadAt(b[:], at); n < len(b) {
		return 0, false
	}
	return int64(little.Uint64(b[:])), true
}

// open returns the function that decodes the next point of a chunk into a record.
func (p *packing) open(r io.ReaderAt, run chunk, record []byte) (func() error, error) {
	first := true
	if p.compressor == inLayers {
		layers := 0
		for _, item := range p.items {
			n := layersOf[item.kind-itemLayers]
			if n == 0 {
				n = int(item.size)
			}
			layers += n
		}
		l, err := newLayered(r, run.at, run.end, record, layers)
		return func() error {
			if first {
				first = false
				return nil
			}
			return l.next(record)
		}, err
	}
	d := &decoder{stream: newStream(r, run.at, run.end)}
	items := make([]item, len(p.items))
	for i, packed := range p.items {
		switch packed.kind {
		case itemCore:
			items[i] = newCore()
		case itemClock:
			items[i] = newClock()
		case itemColour:
			items[i] = newColour()
		default:
			items[i] = newExtra(int(packed.size))
		}
		if items[i].size() != int(packed.size) {
			return nil, errors.New("its header is damaged: its compression settings are invalid")
		}
	}
	return func() error {
		begins := first
		if first = false; begins {
			d.raw(record)
		}
		part := record
		for _, item := range items {
			n := item.size()
			if c, isClock := item.(*clock); !begins {
				item.next(d, part[:n])
			} else if isClock { // the first record is not compressed
				c.first(part)
			}
			part = part[n:]
		}
		if begins && run.points > 1 {
			d.begin()
		}
		return d.err
	}, nil
}
