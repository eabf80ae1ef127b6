// Package mesh reads the triangles of meshes: OBJ with its materials, PLY and STL. Open counts the
// elements of a file and finds its extent, Each visits the triangles. Only the vertices are in memory,
// up to a limit.
//
// Package formats draws and measures meshes with it. Every format has its own file.
package mesh

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"transect/client/formats/source"
)

// File is a file to read.
type File = source.File

// Mesh is an open mesh.
type Mesh struct {
	Format    string
	Vertices  int64
	Triangles int64 // 0 for the points of a PLY file
	Low, High [3]float64
	Coloured  bool // triangles have colours or textures

	read func(ctx context.Context, s sink) error
}

// Triangle is one triangle, in the coordinates of the file.
type Triangle struct {
	Corners  [3][3]float64
	Colours  [3]color.NRGBA // transparent without any
	Texture  string         // name of the file; "" without one
	Position [3][2]float32  // in the texture, from the lower left corner
}

// maxVertices limits the vertices, and the texture positions, of a mesh.
const maxVertices = 6_000_000

var errMany = fmt.Errorf("it has more than %d vertices", maxVertices)

// sink receives the elements of a file. Each vertex precedes its triangles.
type sink struct {
	vertex   func(p [3]float64) error
	triangle func(Triangle) error // may be nil
}

// Open recognises a file and reads it once.
func Open(ctx context.Context, f File, beside ...File) (*Mesh, error) {
	head, err := f.Head(512)
	if err != nil {
		return nil, err
	}
	m := &Mesh{}
	switch ext := strings.ToLower(filepath.Ext(f.Name)); {
	case bytes.HasPrefix(head, []byte("ply\n")), bytes.HasPrefix(head, []byte("ply\r")):
		m.Format, m.read = "ply", func(ctx context.Context, s sink) error { return readPLY(f.Reader(ctx), s) }
	case len(head) >= 84 && f.Size == 84+50*int64(binary.LittleEndian.Uint32(head[80:])):
		m.Format, m.read = "stl", func(ctx context.Context, s sink) error { return readSTL(f.Reader(ctx), s) }
	case bytes.HasPrefix(head, []byte("solid")) && ext == ".stl":
		m.Format, m.read = "stl", func(ctx context.Context, s sink) error { return readTextSTL(f.Reader(ctx), s) }
	case ext == ".obj":
		m.Format, m.read = "obj", func(ctx context.Context, s sink) error { return readOBJ(ctx, f, beside, s) }
	default:
		return nil, source.ErrOther
	}
	err = m.read(ctx, sink{m.add, func(t Triangle) error {
		m.Triangles++
		m.Coloured = m.Coloured || t.Texture != "" || t.Colours[0].A > 0
		return nil
	}})
	if err == nil && m.Vertices == 0 {
		err = errors.New("it has no vertices")
	}
	return m, err
}

// Each visits all triangles.
func (m *Mesh) Each(ctx context.Context, visit func(Triangle) error) error {
	return m.read(ctx, sink{func([3]float64) error { return nil }, visit})
}

// Points visits all vertices.
func (m *Mesh) Points(ctx context.Context, visit func(p [3]float64)) error {
	return m.read(ctx, sink{func(p [3]float64) error { visit(p); return nil }, func(Triangle) error { return nil }})
}

func (m *Mesh) add(p [3]float64) error {
	for i, v := range p {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("a vertex has no position")
		}
		if m.Vertices == 0 {
			m.Low[i], m.High[i] = v, v
		}
		m.Low[i], m.High[i] = min(m.Low[i], v), max(m.High[i], v)
	}
	m.Vertices++
	return nil
}

// vertices are the positions of a mesh, relative to the first one, so that single precision suffices.
type vertices struct {
	origin  [3]float64
	offsets [][3]float32
	colours []color.NRGBA // of each vertex, or nil
}

func (v *vertices) add(p [3]float64) error {
	if len(v.offsets) == 0 {
		v.origin = p
	}
	if len(v.offsets) == maxVertices {
		return errMany
	}
	var o [3]float32
	for i := range p {
		o[i] = float32(p[i] - v.origin[i])
	}
	v.offsets = append(v.offsets, o)
	return nil
}

// addColour sets the colour of the last vertex.
func (v *vertices) addColour(c color.NRGBA) {
	for len(v.colours) < len(v.offsets)-1 {
		v.colours = append(v.colours, color.NRGBA{})
	}
	v.colours = append(v.colours, c)
}

// corner sets a corner of a triangle; it returns false without such a vertex.
func (v *vertices) corner(t *Triangle, corner int, i int64) bool {
	if i < 0 || i >= int64(len(v.offsets)) {
		return false
	}
	for k := range 3 {
		t.Corners[corner][k] = v.origin[k] + float64(v.offsets[i][k])
	}
	if i < int64(len(v.colours)) {
		t.Colours[corner] = v.colours[i]
	}
	return true
}

var errVertex = errors.New("a face has a vertex that is not there")

// buffered returns a reader of lines and bytes.
func buffered(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 64<<10) }
