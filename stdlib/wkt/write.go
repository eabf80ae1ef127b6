package wkt

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// ErrMixed is why a geometry cannot be written of which some positions have a
// height or measure and others none.
var ErrMixed = errors.New("some positions have a height or a measure, and others none")

// Format writes a GeoJSON geometry that was checked. A fourth number of a
// position is its measure, where there is no member of measures.
func Format(g map[string]any) (string, error) {
	w := &writer{dimensions: unsaid}
	if err := w.look(g); err != nil {
		return "", err
	}
	w.geometry(g)
	return w.b.String(), nil
}

// writer writes geometries; all in a collection have the same dimensions.
type writer struct {
	b strings.Builder
	dimensions
}

func shapeOf(g map[string]any) (s shape) {
	for _, s = range shapes {
		if s.typ == g["type"] {
			break
		}
	}
	return s
}

// look finds the dimensions of a geometry.
func (w *writer) look(g map[string]any) error {
	if members, ok := g["geometries"].([]any); ok {
		for _, m := range members {
			if err := w.look(m.(map[string]any)); err != nil {
				return err
			}
		}
		return nil
	}
	return w.lookAt(g["coordinates"], g["measures"], shapeOf(g).depth)
}

func (w *writer) lookAt(coordinates, measures any, depth int) error {
	list := coordinates.([]any)
	if depth > 0 {
		for i, c := range list {
			if err := w.lookAt(c, item(measures, i), depth-1); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		return nil
	}
	d := dimensions{len(list), -1}
	if _, measured := number(measures); measured {
		list = list[:min(3, len(list))]
		d = dimensions{len(list) + 1, len(list)}
	} else if len(list) == 4 {
		d.measure = 3
	}
	if w.dimensions != unsaid && w.dimensions != d {
		return ErrMixed
	}
	w.dimensions = d
	return nil
}

func item(list any, i int) any {
	if l, ok := list.([]any); ok && i < len(l) {
		return l[i]
	}
	return nil
}

func (w *writer) geometry(g map[string]any) {
	s := shapeOf(g)
	w.b.WriteString(s.tag)
	if tag := map[dimensions]string{{3, -1}: " Z ", {3, 2}: " M ", {4, 3}: " ZM "}[w.dimensions]; tag != "" {
		w.b.WriteString(tag)
	}
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
		if text := w.b.String(); text[len(text)-1] != ' ' && text[len(text)-1] != '(' && text[len(text)-1] != ',' {
			w.b.WriteByte(' ')
		}
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
	switch {
	case depth == 0:
		w.items(min(1, len(list)), func(int) { w.position(list, measures) })
	case depth == 1 && !multi:
		w.items(len(list), func(i int) { w.position(list[i].([]any), item(measures, i)) })
	default:
		w.items(len(list), func(i int) { w.nested(list[i].([]any), item(measures, i), depth-1, false) })
	}
}

func (w *writer) position(list []any, measure any) {
	if _, measured := number(measure); measured {
		list = append(append([]any{}, list[:min(3, len(list))]...), measure)
	}
	for i, v := range list {
		if i > 0 {
			w.b.WriteByte(' ')
		}
		n, _ := number(v)
		form := byte('f')
		if size := math.Abs(n); size != 0 && (size < 1e-9 || size >= 1e15) {
			form = 'e'
		}
		w.b.WriteString(strconv.FormatFloat(n, form, -1, 64))
	}
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case json.Number:
		n, err := v.Float64()
		return n, err == nil
	}
	return 0, false
}
