package wkt

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"transect/client/geojson"
)

// ErrMixed means that some positions of a geometry have a height or measure and others do not.
var ErrMixed = errors.New("some positions have a height or a measure, and others none")

// Format writes a GeoJSON geometry that was checked. The fourth number of a position is its measure, unless
// there is a member measures.
func Format(g map[string]any) (string, error) {
	w := &writer{dimensions: unknown}
	w.geometry(g)
	if w.mixed {
		return "", ErrMixed
	}
	tag := map[dimensions]string{{3, -1}: " Z", {3, 2}: " M", {4, 3}: " ZM"}[w.dimensions]
	text := strings.ReplaceAll(w.b.String(), tagged+"EMPTY", tag+" EMPTY")
	if tag != "" {
		tag += " "
	}
	return strings.ReplaceAll(text, tagged, tag), nil
}

// tagged marks where dimensions follow the name of a geometry: all geometries in a collection have the same,
// known only when the positions are written.
const tagged = "\x00"

type writer struct {
	b strings.Builder
	dimensions
	mixed bool
}

func (w *writer) geometry(g map[string]any) {
	s := shapes[slices.IndexFunc(shapes, func(s shape) bool { return s.typ == g["type"] })]
	w.b.WriteString(s.tag + tagged)
	if s.depth >= 0 {
		w.nested(g["coordinates"].([]any), g["measures"], s.depth, s.typ == "MultiPoint")
		return
	}
	members := g["geometries"].([]any)
	w.items(len(members), func(i int) { w.geometry(members[i].(map[string]any)) })
}

// items writes a list in brackets.
func (w *writer) items(n int, item func(i int)) {
	if n == 0 {
		w.b.WriteString("EMPTY")
		return
	}
	for i := range n {
		w.b.WriteByte("(,"[min(i, 1)])
		item(i)
	}
	w.b.WriteByte(')')
}

func (w *writer) nested(list []any, measures any, depth int, multi bool) {
	measure := func(i int) any {
		if l, ok := measures.([]any); ok && i < len(l) {
			return l[i]
		}
		return nil
	}
	switch {
	case depth == 0:
		w.items(min(1, len(list)), func(int) { w.position(list, measures) })
	case depth == 1 && !multi:
		w.items(len(list), func(i int) { w.position(list[i].([]any), measure(i)) })
	default:
		w.items(len(list), func(i int) { w.nested(list[i].([]any), measure(i), depth-1, false) })
	}
}

func (w *writer) position(list []any, measure any) {
	d := dimensions{len(list), -1}
	if _, measured := geojson.Number(measure); measured {
		list = append(slices.Clone(list[:min(3, len(list))]), measure)
		d = dimensions{len(list), len(list) - 1}
	} else if len(list) == 4 {
		d.measure = 3
	}
	w.mixed = w.mixed || w.dimensions != unknown && w.dimensions != d
	w.dimensions = d
	for i, v := range list {
		if i > 0 {
			w.b.WriteByte(' ')
		}
		n, _ := geojson.Number(v)
		form := byte('f')
		if size := math.Abs(n); size != 0 && (size < 1e-9 || size >= 1e15) {
			form = 'e'
		}
		w.b.WriteString(strconv.FormatFloat(n, form, -1, 64))
	}
}
