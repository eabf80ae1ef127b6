package raster

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"transect/client/formats/crs"
)

// Limits of Erdas Imagine files, far above those of real ones.
const (
	maxNodes    = 1 << 14
	maxNodeData = 1 << 17
	nodeLength  = 120
	layerSize   = 8 // offset of a layer's width and height
)

// hfa is an Erdas Imagine file: a tree of nodes with data of named types ("Erdas Imagine
// Format", appendix of the Field Guide).
type hfa struct {
	r     io.ReaderAt
	nodes int // number read so far
}

// node is an entry of the tree.
type node struct {
	next, child, data, length uint32
	name, kind                string
}

// OpenHFA reads the headers of an Erdas Imagine file. undrawn is why its pixels cannot be drawn.
func OpenHFA(r io.ReaderAt, undrawn error) (*Raster, error) {
	h := &hfa{r: r}
	root := h.root()
	var width, height, bands int64
	g := unplaced
	for n := range h.children(root) {
		if n.kind != "Eimg_Layer" {
			continue
		}
		n.length = min(n.length, layerSize)
		f := h.fields(n)
		w, tall := int64(int32(f.word())), int64(int32(f.word()))
		switch {
		case f.short:
			return nil, errors.New("the file is damaged: one of its layers has no size")
		case bands == 0:
			width, height, g = w, tall, h.georeference(n)
		case w != width || tall != height:
			return nil, errors.New("the layers of the file have different sizes")
		}
		bands++
	}
	if bands == 0 {
		return nil, errors.New("the file has no layers")
	}
	if err := sized(width, height, bands); err != nil {
		return nil, err
	}
	return headed(int(width), int(height), int(bands), g, undrawn), nil
}

// root returns the root of the tree, an empty node without one.
func (h *hfa) root() node {
	var b [12]byte
	if n, _ := h.r.ReadAt(b[:4], 16); n < 4 {
		return node{}
	}
	if n, _ := h.r.ReadAt(b[:], int64(binary.LittleEndian.Uint32(b[:]))); n < len(b) {
		return node{}
	}
	root, _ := h.node(binary.LittleEndian.Uint32(b[8:]))
	return root
}

func (h *hfa) node(at uint32) (n node, ok bool) {
	b := make([]byte, nodeLength)
	if h.nodes++; at == 0 || h.nodes > maxNodes {
		return n, false
	}
	if read, _ := h.r.ReadAt(b, int64(at)); read < len(b) {
		return n, false
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	return node{next: word(0), child: word(3), data: word(4), length: word(5), name: cString(b[24:88]),
		kind: cString(b[88:120])}, true
}

// children visits the children of a node, in a loop up to the file's limit of nodes.
func (h *hfa) children(n node) iter.Seq[node] {
	return func(yield func(node) bool) {
		for at := n.child; ; {
			c, ok := h.node(at)
			if !ok || !yield(c) {
				return
			}
			at = c.next
		}
	}
}

// child returns the first child of a type.
func (h *hfa) child(n node, kind string) (node, bool) {
	for c := range h.children(n) {
		if c.kind == kind {
			return c, true
		}
	}
	return node{}, false
}

func cString(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return text
}

// hfaFields takes the fields of a node from its data, in order.
type hfaFields struct {
	b     []byte
	short bool // the data ended early
}

func (h *hfa) fields(n node) *hfaFields {
	b := make([]byte, min(n.length, maxNodeData))
	read, _ := h.r.ReadAt(b, int64(n.data))
	return &hfaFields{b: b[:read]}
}

func (f *hfaFields) take(n int) []byte {
	if n > len(f.b) {
		f.b, f.short = nil, true
		return make([]byte, min(n, 8))
	}
	taken := f.b[:n]
	f.b = f.b[n:]
	return taken
}

func (f *hfaFields) word() uint32 { return binary.LittleEndian.Uint32(f.take(4)) }

func (f *hfaFields) float() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(f.take(8)))
}

// count reads how many values follow, and skips their offset in the file.
func (f *hfaFields) count(length int) int {
	n := int64(f.word())
	f.word()
	if n*int64(length) > int64(len(f.b)) {
		f.b, f.short = nil, true
		return 0
	}
	return int(n)
}

func (f *hfaFields) text() string { return cString(f.take(f.count(1))) }

func (f *hfaFields) floats() []float64 {
	values := make([]float64, f.count(8))
	for i := range values {
		values[i] = f.float()
	}
	return values
}

// two reads a pair of numbers.
func (f *hfaFields) two() [2]float64 {
	if f.count(16) != 1 {
		f.b, f.short = nil, true
	}
	return [2]float64{f.float(), f.float()}
}

// georeference reads the position of a layer.
func (h *hfa) georeference(layer node) georeference {
	g := unplaced
	info, ok := h.child(layer, "Eprj_MapInfo")
	if !ok {
		if _, turned := h.child(layer, "Exfr_GenericXFormHeader"); turned {
			g.noTransform = errors.New("the raster is not north up: rectify it, for example with gdalwarp")
		}
		return g
	}
	f := h.fields(info)
	f.text()
	first, last, pixel, unit := f.two(), f.two(), f.two(), strings.ToLower(f.text())
	if f.short {
		g.noTransform = errors.New("the position of the raster is damaged")
		return g
	}
	if first[1] > last[1] {
		pixel[1] = -pixel[1]
	}
	g.to, g.noTransform = affine{first[0] - pixel[0]/2, pixel[0], 0, first[1] - pixel[1]/2, 0, pixel[1]}, nil
	g.system, g.noSystem = h.system(layer, unit)
	return g
}

// system returns the reference system of a layer. Well-known text by Esri's software or GDAL has
// precedence over the parameters, which cannot represent every system.
func (h *hfa) system(layer node, unit string) (*crs.System, error) {
	p, own := h.parameters(layer)
	described, err := h.wellKnownText(layer)
	switch {
	case own && described == "":
		if !slices.Contains([]string{"", "meters", "meter", "metres", "metre", "m", "dd", "degrees"}, unit) {
			return nil, fmt.Errorf("the unit %q of the projection %q is not supported", shortened(unit), shortened(p.name))
		}
		return p.system()
	case err != nil || described == "":
		return nil, cmp.Or(err, crs.ErrNoSystem)
	}
	s, err := crs.FromWKT(p.withShift(described))
	if err != nil {
		return nil, err
	}
	// GDAL uses these parameters if they name a system of the register.
	if own && (p.number == hfaDegrees || p.number == hfaUTM) {
		if byNumber, err := p.system(); err == nil && byNumber.Code != 0 && byNumber.Code != s.Code {
			return nil, fmt.Errorf("the file names two reference systems: %s and %s", s, byNumber)
		}
	}
	if s.Geographic && unit != "" && unit != "dd" && unit != "degrees" {
		return nil, fmt.Errorf("the unit %q of longitudes and latitudes is not supported", shortened(unit))
	}
	return s, p.unshifted(s)
}

// wellKnownText returns the layer's well-known text, "" without one.
func (h *hfa) wellKnownText(layer node) (string, error) {
	n, ok := h.child(layer, "Eprj_MapProjection842")
	if !ok {
		return "", nil
	}
	f := h.fields(n)
	if f.text() != "PE_COORDSYS" {
		return "", nil
	}
	f.text() // the types of the following fields
	f.word()
	f.word()
	if f.short { // an empty object
		return "", nil
	}
	text := f.text()
	if f.short {
		return "", errors.New("the reference system of the raster is damaged")
	}
	return text, nil
}
