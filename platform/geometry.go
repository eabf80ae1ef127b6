package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"transect/platform/store"
)

// checkPosition checks [longitude, latitude] in degrees.
func checkPosition(position []any) error {
	if len(position) != 2 {
		return errors.New("must be [longitude, latitude]")
	}
	for i, limit := range []float64{180, 90} {
		n, ok := position[i].(json.Number)
		if !ok {
			return errors.New("must be two numbers")
		}
		if f, err := n.Float64(); err != nil || f < -limit || f > limit {
			return errors.New("must be [longitude, latitude] in degrees")
		}
	}
	return nil
}

// box gathers the rectangle around geometries.
type box struct {
	low, high [2]float64
	any       bool
}

// depths is how deep the positions of a GeoJSON geometry lie in its lists.
var depths = map[string]int{
	"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3,
}

// maxNested bounds how deep collections of geometries may be nested.
const maxNested = 8

// add takes a GeoJSON geometry (RFC 7946) in, or says what is wrong with it.
func (b *box) add(geometry store.Doc) error { return b.addNested(geometry, 0) }

func (b *box) addNested(geometry store.Doc, nested int) error {
	kind, _ := geometry["type"].(string)
	if kind == "GeometryCollection" {
		list, ok := geometry["geometries"].([]any)
		if !ok || nested > maxNested {
			return errors.New("a GeometryCollection needs a list of geometries")
		}
		for _, v := range list {
			inner, ok := v.(map[string]any)
			if !ok {
				return errors.New("geometries must be objects")
			}
			if err := b.addNested(inner, nested+1); err != nil {
				return err
			}
		}
		return nil
	}
	depth, ok := depths[kind]
	if !ok {
		return fmt.Errorf("%q is no type of geometry", kind)
	}
	coordinates, ok := geometry["coordinates"].([]any)
	if !ok {
		return errors.New("coordinates must be a list")
	}
	return b.addPositions(coordinates, depth, kind)
}

func (b *box) addPositions(list []any, depth int, kind string) error {
	if depth == 0 {
		return b.addPosition(list)
	}
	if kind == "Polygon" && depth == 1 || kind == "MultiPolygon" && depth == 1 {
		if len(list) < 4 || !reflect.DeepEqual(list[0], list[len(list)-1]) {
			return errors.New("a ring needs four positions or more, and its last must be its first")
		}
	}
	if kind == "LineString" && len(list) < 2 {
		return errors.New("a LineString needs two positions or more")
	}
	for _, v := range list {
		inner, ok := v.([]any)
		if !ok {
			return fmt.Errorf("the coordinates of a %s must be nested %d lists deep", kind, depths[kind]+1)
		}
		if err := b.addPositions(inner, depth-1, kind); err != nil {
			return err
		}
	}
	return nil
}

func (b *box) addPosition(position []any) error {
	if len(position) < 2 {
		return errors.New("a position needs two numbers or more")
	}
	var at [2]float64
	for i, v := range position {
		n, ok := v.(json.Number)
		if !ok {
			return errors.New("a position must be a list of numbers")
		}
		f, err := n.Float64()
		if err != nil {
			return err
		}
		if i < 2 {
			at[i] = f
		}
	}
	if !b.any {
		b.low, b.high, b.any = at, at, true
	}
	for i := range at {
		b.low[i], b.high[i] = min(b.low[i], at[i]), max(b.high[i], at[i])
	}
	return nil
}

// polygon gives the rectangle as a GeoJSON geometry, or nil when there is none.
func (b *box) polygon() any {
	if !b.any {
		return nil
	}
	return store.Doc{"type": "Polygon", "coordinates": []any{[]any{
		b.low, [2]float64{b.high[0], b.low[1]}, b.high, [2]float64{b.low[0], b.high[1]}, b.low,
	}}}
}

// include takes a value of a document in when it is a geometry.
func (b *box) include(v any) {
	if geometry, ok := v.(map[string]any); ok {
		around := *b
		if around.add(geometry) == nil {
			*b = around
		}
	}
}

// computeMissionBox sets the rectangle around a mission's datasets; around
// its own geometry while none of them has a position.
func computeMissionBox(r *Request, _ *args, doc store.Doc) error {
	return r.computeBox(doc, store.Doc{"mission": doc["_id"]})
}

// computeProjectBox does the same for all that is in a project.
func computeProjectBox(r *Request, _ *args, doc store.Doc) error {
	return r.computeBox(doc, store.Doc{"project": doc["_id"]})
}

func (r *Request) computeBox(doc, filter store.Doc) error {
	var b box
	page, err := r.tx.Search(datasets.plural, store.Query{
		Filter: filter, Limit: -1, NoTotal: true, Fields: store.Projection{Include: []string{"geometry"}},
	})
	if err != nil {
		return err
	}
	for _, raw := range page.Results {
		dataset, err := store.Decode(raw)
		if err != nil {
			return err
		}
		b.include(dataset["geometry"])
	}
	if !b.any && filter["project"] != nil {
		docs, err := r.tx.All(missions.plural, filter)
		if err != nil {
			return err
		}
		for _, mission := range docs {
			b.include(mission["real_bbox"])
			b.include(mission["geometry"])
		}
	}
	if !b.any {
		b.include(doc["geometry"])
	}
	doc["real_bbox"] = b.polygon()
	return nil
}
