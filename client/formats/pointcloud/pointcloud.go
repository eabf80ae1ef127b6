// Package pointcloud reads LAS files (versions 1.0 to 1.4, ASPRS) and LAZ files, their compressed form.
// Open reads the header, Sample the positions of all points or of a sample from the whole file. Package
// formats draws and measures point clouds with it.
//
// It exists because there is no LAZ reader in Go without cgo. arithmetic.go is the entropy coder,
// items.go the records of the formats 0 to 5, layers.go the records of the formats 6 to 10, of which
// only position and height are read; laz.go combines them. Memory is bounded whatever a file contains;
// reading ends with the file.
package pointcloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"transect/client/formats/source"
)

// Cloud is an open point cloud.
type Cloud struct {
	Format     int   // of the point records, 0 to 10
	Compressed bool  // LAZ
	Count      int64 // points
	Min, Max   Point // according to the header

	// The reference system: WKT, or GeoTIFF keys. All are empty without one.
	WKT     string
	Keys    []uint16
	Doubles []float64
	Text    string

	r             io.ReaderAt
	size          int64
	points        int64 // offset
	length        int   // of a record
	scale, offset [3]float64
	packed        *packing // nil for LAS
}

// Point is a position in the reference system of its cloud.
type Point struct{ X, Y, Z float64 }

// lengths are the shortest records of the formats.
var lengths = [...]int{20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67}

// Open reads the header of a file of size bytes.
func Open(r io.ReaderAt, size int64) (*Cloud, error) {
	head := make([]byte, 375)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if string(head[:4]) != "LASF" {
		return nil, errors.New("not a LAS point cloud")
	}
	if n < 227 {
		return nil, errors.New("it ends within its header")
	}
	c := &Cloud{
		Format: int(head[104] & 0x3F), Compressed: head[104]&0xC0 != 0,
		Count: int64(little.Uint32(head[107:])), r: r, size: size,
		points: int64(little.Uint32(head[96:])), length: int(little.Uint16(head[105:])),
	}
	for i := range 3 {
		c.scale[i], c.offset[i] = float(head[131+8*i:]), float(head[155+8*i:])
		if bad(c.scale[i], c.offset[i]) || c.scale[i] == 0 {
			return nil, errors.New("its header is damaged: the scale of the coordinates is invalid")
		}
	}
	c.Max = Point{float(head[179:]), float(head[195:]), float(head[211:])}
	c.Min = Point{float(head[187:]), float(head[203:]), float(head[219:])}
	if head[24] != 1 || c.Format >= len(lengths) {
		return nil, fmt.Errorf("LAS version %d.%d with points of format %d is not supported", head[24], head[25], c.Format)
	}
	if c.length < lengths[c.Format] {
		return nil, fmt.Errorf("its header is damaged: points of format %d do not fit into %d bytes", c.Format, c.length)
	}
	long := head[25] >= 4 && n == len(head)
	if long {
		if count := little.Uint64(head[247:]); count > 0 {
			c.Count = int64(min(count, math.MaxInt64))
		}
	}
	if c.points > size {
		return nil, errors.New("it ends before its points")
	}
	if err := c.readRecords(int64(little.Uint16(head[94:])), int64(little.Uint32(head[100:])), 54); err != nil {
		return nil, err
	}
	if long && c.WKT == "" && c.Keys == nil {
		extended := int64(min(little.Uint64(head[235:]), uint64(size)))
		if err := c.readRecords(extended, int64(little.Uint32(head[243:])), 60); err != nil {
			return nil, err
		}
	}
	return c, c.check()
}

// check compares the header with the length of the file.
func (c *Cloud) check() error {
	if c.Compressed && c.packed == nil {
		return errors.New("it is compressed, but does not say how")
	}
	if !c.Compressed {
		if there := (c.size - c.points) / int64(c.length); there < c.Count {
			return c.cut(there)
		}
	}
	return nil
}

func (c *Cloud) cut(there int64) error {
	return fmt.Errorf("it is cut short: %d of its %d points are there", there, c.Count)
}

// maxRecord is the longest header record read.
const maxRecord = 1 << 20

// readRecords reads the variable length records from an offset on, with headers of header bytes (54, or
// 60 in LAS 1.4).
func (c *Cloud) readRecords(at, count, header int64) error {
	b := make([]byte, header)
	for ; count > 0 && at > 0 && at+header <= c.size; count-- {
		if _, err := c.r.ReadAt(b, at); err != nil && err != io.EOF {
			return err
		}
		user, id := text(b[2:18]), little.Uint16(b[18:])
		n := int64(little.Uint16(b[20:]))
		if header == 60 {
			n = int64(min(little.Uint64(b[20:]), uint64(c.size)))
		}
		at += header
		if wanted := user == "LASF_Projection" || user == "laszip encoded"; wanted && n <= maxRecord && at+n <= c.size {
			data := make([]byte, n)
			if _, err := c.r.ReadAt(data, at); err != nil && err != io.EOF {
				return err
			}
			if err := c.readRecord(user, id, data); err != nil {
				return err
			}
		}
		at += n
	}
	return nil
}

func (c *Cloud) readRecord(user string, id uint16, data []byte) (err error) {
	switch {
	case user != "LASF_Projection":
		if id == 22204 && c.Compressed {
			c.packed, err = newPacking(data)
		}
	case id == 2112:
		c.WKT = text(data)
	case id == 34735:
		for ; len(data) >= 2; data = data[2:] {
			c.Keys = append(c.Keys, little.Uint16(data))
		}
	case id == 34736:
		for ; len(data) >= 8; data = data[8:] {
			c.Doubles = append(c.Doubles, float(data))
		}
	case id == 34737:
		c.Text = text(data)
	}
	return err
}

// Sample yields at most about limit points, spread over the whole file, or the error that ends it.
func (c *Cloud) Sample(ctx context.Context, limit int64) iter.Seq2[Point, error] {
	return func(yield func(Point, error) bool) {
		chunks, err := c.chunks()
		if err != nil || len(chunks) == 0 {
			if err != nil {
				yield(Point{}, err)
			}
			return
		}
		part := min(1, float64(limit)/float64(c.Count))
		skip := max(1, int64(len(chunks))/max(1, limit)) // more chunks than wanted points
		record := make([]byte, c.length)
		for i := int64(0); i < int64(len(chunks)); i += skip {
			next, err := c.open(chunks[i], record)
			for n := int64(0); err == nil && n < int64(math.Ceil(part*float64(chunks[i].points))); n++ {
				if n%1024 == 0 && ctx.Err() != nil {
					err = ctx.Err()
				} else if err = next(); err == nil && !yield(c.point(record), nil) {
					return
				}
			}
			if err != nil {
				yield(Point{}, source.Cut(err))
				return
			}
		}
	}
}

// chunk is a run of points that can be read independently.
type chunk struct{ at, end, points int64 }

// plainChunk is the number of points of a LAS file treated as a chunk.
const plainChunk = 20_000

func (c *Cloud) chunks() (all []chunk, err error) {
	if c.Compressed {
		return c.packed.chunks(c)
	}
	for from := int64(0); from < c.Count; from += plainChunk {
		n := min(plainChunk, c.Count-from)
		at := c.points + from*int64(c.length)
		all = append(all, chunk{at, at + n*int64(c.length), n})
	}
	return all, nil
}

// open returns the function that reads the next point of a chunk into a record.
func (c *Cloud) open(run chunk, record []byte) (next func() error, err error) {
	if c.Compressed {
		return c.packed.open(c.r, run, record)
	}
	s := newStream(c.r, run.at, run.end)
	return func() error { s.raw(record); return s.err }, nil
}

func (c *Cloud) point(record []byte) Point {
	at := func(i int) float64 { return float64(int32(little.Uint32(record[4*i:])))*c.scale[i] + c.offset[i] }
	return Point{at(0), at(1), at(2)}
}

func float(b []byte) float64 { return math.Float64frombits(little.Uint64(b)) }

func bad(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return true
		}
	}
	return false
}

func text(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(bytes.ToValidUTF8(b, nil))
}
