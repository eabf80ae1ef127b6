package geojson

import (
	"encoding/json"
	"reflect"

	"github.com/paulmach/orb"
)

// Shape collects the geometries of a checked GeoJSON object, including its features and
// collections, without altitudes. ok is false when all are empty.
func Shape(object map[string]any) (g orb.Geometry, ok bool) {
	var parts orb.Collection
	collect(object, &parts)
	switch len(parts) {
	case 0:
		return nil, false
	case 1:
		return parts[0], true
	}
	return parts, true
}

func collect(o map[string]any, parts *orb.Collection) {
	for _, member := range []string{"features", "geometries"} {
		if list, ok := o[member].([]any); ok {
			for _, e := range list {
				collect(e.(map[string]any), parts)
			}
			return
		}
	}
	if o["type"] == "Feature" {
		if inner, ok := o["geometry"].(map[string]any); ok {
			collect(inner, parts)
		}
		return
	}
	coordinates, _ := o["coordinates"].([]any)
	kinds := []orb.Geometry{orb.Point{}, orb.MultiPoint{}, orb.LineString{}, orb.MultiLineString{}, orb.Polygon{},
		orb.MultiPolygon{}}
	for _, kind := range kinds {
		if kind.GeoJSONType() != o["type"] || len(coordinates) == 0 {
			continue
		}
		shape := reflect.New(reflect.TypeOf(kind)).Elem()
		fill(shape, coordinates)
		if g := shape.Interface().(orb.Geometry); !g.Bound().IsEmpty() {
			*parts = append(*parts, g)
		}
	}
}

// fill sets a point, or a list of points or lists, to checked coordinates.
func fill(to reflect.Value, coordinates []any) {
	if to.Kind() == reflect.Array {
		for i := range to.Len() {
			n, _ := Number(coordinates[i])
			to.Index(i).SetFloat(n)
		}
		return
	}
	to.Set(reflect.MakeSlice(to.Type(), len(coordinates), len(coordinates)))
	for i, inner := range coordinates {
		fill(to.Index(i), inner.([]any))
	}
}

// Object converts a geometry to its GeoJSON object.
func Object(g orb.Geometry) map[string]any {
	c, ok := g.(orb.Collection)
	if !ok {
		return map[string]any{"type": g.GeoJSONType(), "coordinates": lists(reflect.ValueOf(g))}
	}
	members := make([]any, len(c))
	for i, part := range c {
		members[i] = Object(part)
	}
	return map[string]any{"type": "GeometryCollection", "geometries": members}
}

// Text returns the GeoJSON text of a geometry, nil if JSON cannot represent its numbers.
func Text(g orb.Geometry) json.RawMessage {
	v := map[string]any{"type": g.GeoJSONType(), "coordinates": g}
	if c, ok := g.(orb.Collection); ok {
		members := make([]json.RawMessage, len(c))
		for i, part := range c {
			members[i] = Text(part)
		}
		v = map[string]any{"type": "GeometryCollection", "geometries": members}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return text
}

// lists inverts fill.
func lists(coordinates reflect.Value) any {
	if coordinates.Kind() == reflect.Float64 {
		return coordinates.Float()
	}
	out := make([]any, coordinates.Len())
	for i := range out {
		out[i] = lists(coordinates.Index(i))
	}
	return out
}
