package vector

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paulmach/orb"

	"transect/client/formats/source"
)

// Shapefiles (Esri, July 1998). Parsed here because the available Go modules trust the counts in a file.

var little, big = binary.LittleEndian, binary.BigEndian

// isShape recognises the header of the main file. An index has the same header, but no shapes.
func isShape(head []byte) bool {
	return len(head) >= 100 && big.Uint32(head) == 9994 && little.Uint32(head[28:]) == 1000
}

func openShape(f File, beside []File) (*Layer, error) {
	var table *File // with the attributes
	var codePage string
	l := &Layer{Format: "shapefile", Problem: "the file has no projection file (.prj)",
		each: func(ctx context.Context, attributes bool, visit visitor) error {
			var rows *rows
			if attributes && table != nil {
				rows = openRows(ctx, *table, codePage)
			}
			return eachShape(f.Reader(ctx), func(g orb.Geometry) error { return visit(g, rows.next()) })
		}}
	stem := strings.TrimSuffix(f.Name, filepath.Ext(f.Name))
	exact := slices.ContainsFunc(beside, func(b File) bool { return b.Name == stem+".prj" })
	for _, b := range beside {
		text := func() (string, error) {
			text, err := io.ReadAll(io.NewSectionReader(b.Data, 0, min(b.Size, 1<<20)))
			return string(text), err
		}
		if !strings.EqualFold(strings.TrimSuffix(b.Name, filepath.Ext(b.Name)), stem) {
			continue
		}
		switch strings.ToLower(filepath.Ext(b.Name)) {
		case ".prj":
			if exact && b.Name != stem+".prj" {
				continue
			}
			wkt, err := text()
			if err != nil {
				return nil, err
			}
			l.setWKT(wkt)
		case ".cpg":
			codePage, _ = text() // without it the table declares its own
		case ".dbf":
			table = &b
		}
	}
	return l, nil
}

// Kinds of shapes: add 10 for heights, 20 for measures.
const (
	shapePoint      = 1
	shapeLine       = 3
	shapePolygon    = 5
	shapeMultiPoint = 8
	shapePatch      = 31
)

var errShape = errors.New("the shapefile is damaged")

func eachShape(r io.Reader, visit func(orb.Geometry) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var head [100]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return source.Cut(err)
	}
	left := int64(big.Uint32(head[24:]))*2 - 100 // a file may have more bytes
	var record []byte
	for left > 8 {
		if _, err := io.ReadFull(in, head[:8]); err != nil {
			return source.Cut(err)
		}
		length := int64(big.Uint32(head[4:])) * 2
		if left -= 8 + length; length < 4 || left < 0 {
			return errShape
		}
		if length > maxPositions*32 {
			return errLong
		}
		var err error
		if record, err = readInto(record, in, length); err != nil {
			return source.Cut(err)
		}
		g, err := shapeOf(record)
		if err != nil {
			return err
		}
		if err := visit(g); err != nil {
			return err
		}
	}
	return nil
}

// readInto reads n bytes, allocating no memory for data that is missing.
func readInto(b []byte, r io.Reader, n int64) ([]byte, error) {
	b = b[:0]
	for int64(len(b)) < n {
		part := min(n-int64(len(b)), 1<<20)
		at := len(b)
		if need := at + int(part); need <= cap(b) {
			b = b[:need]
		} else {
			b = append(b, make([]byte, part)...)
		}
		if _, err := io.ReadFull(r, b[at:]); err != nil {
			return b, err
		}
	}
	return b, nil
}

// shapeOf parses the content of a record.
func shapeOf(b []byte) (orb.Geometry, error) {
	kind := little.Uint32(b)
	if kind == 0 {
		return nil, nil
	}
	if kind != shapePatch {
		kind %= 10
	}
	switch {
	case kind == shapePoint && len(b) >= 20:
		return point(b[4:]), nil
	case kind == shapeMultiPoint && len(b) >= 40:
		points, err := points(b[40:], int64(little.Uint32(b[36:])))
		return orb.MultiPoint(points), err
	case (kind == shapeLine || kind == shapePolygon || kind == shapePatch) && len(b) >= 44:
	default:
		return nil, errShape
	}
	parts, count := int64(little.Uint32(b[36:])), int64(little.Uint32(b[40:]))
	starts := b[44:]
	skip := 4 * parts
	if kind == shapePatch {
		skip *= 2 // their kinds
	}
	if skip > int64(len(starts)) {
		return nil, errShape
	}
	all, err := points(starts[skip:], count)
	if err != nil {
		return nil, err
	}
	var lines orb.MultiLineString
	for i := range parts {
		from, to := int64(little.Uint32(starts[4*i:])), count
		if i+1 < parts {
			to = int64(little.Uint32(starts[4*i+4:]))
		}
		if from > to || to > count {
			return nil, errShape
		}
		if from < to {
			lines = append(lines, orb.LineString(all[from:to]))
		}
	}
	if kind != shapePolygon {
		return lines, nil
	}
	var polygons orb.MultiPolygon
	for _, line := range lines {
		// Outer rings are clockwise; a hole follows its ring.
		if ring := orb.Ring(line); len(polygons) > 0 && ring.Orientation() == orb.CCW {
			last := &polygons[len(polygons)-1]
			*last = append(*last, ring)
		} else {
			polygons = append(polygons, orb.Polygon{ring})
		}
	}
	return polygons, nil
}

func point(b []byte) orb.Point {
	return orb.Point{math.Float64frombits(little.Uint64(b)), math.Float64frombits(little.Uint64(b[8:]))}
}

func points(b []byte, n int64) ([]orb.Point, error) {
	if n > int64(len(b))/16 {
		return nil, errShape
	}
	all := make([]orb.Point, n)
	for i := range all {
		all[i] = point(b[16*i:])
	}
	return all, nil
}
