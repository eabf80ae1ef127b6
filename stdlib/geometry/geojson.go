// Package geometry computes with the geometries of GeoJSON: area and length on
// the ellipsoid; hull, centroid, containment and simplification on a local
// plane. GeoJSON objects come in already checked (client/geojson) and are
// converted to orb geometries here, by hand because orb/geojson brings the
// MongoDB driver along. The Lua module geo and the prompt are the callers. Start
// reading at Of and OnPlane.
package geometry

import (
	"reflect"

	"github.com/paulmach/orb"

	"transect/client/geojson"
)

// Of collects the geometries of a checked GeoJSON object, also those of its
// features and collections, without altitudes. ok is false when all are empty.
func Of(object map[string]any) (g orb.Geometry, ok bool) {
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
	kinds := []orb.Geometry{orb.Point{}, orb.MultiPoint{}, orb.LineString{}, orb.MultiLineString{}, orb.Polygon{}, orb.MultiPolygon{}}
	for _, kind := range kinds {
		if kind.GeoJSONType() != o["type"] || len(coordinates) == 0 {
			continue
		}
		shape := reflect.New(reflect.TypeOf(kind)).Elem()
		fill(shape, coordinates)
		if g := shape.Interface().(orb.Geometry); len(Positions(g)) > 0 {
			*parts = append(*parts, g)
		}
	}
}

// fill sets a point, or a list of points or lists, to checked coordinates.
func fill(to reflect.Value, coordinates []any) {
	if to.Kind() == reflect.Array {
		for i := range to.Len() {
			n, _ := geojson.Number(coordinates[i])
			to.Index(i).SetFloat(n)
		}
		return
	}
	to.Set(reflect.MakeSlice(to.Type(), len(coordinates), len(coordinates)))
	for i, inner := range coordinates {
		fill(to.Index(i), inner.([]any))
	}
}

// GeoJSON converts a geometry to its GeoJSON object.
func GeoJSON(g orb.Geometry) map[string]any {
	c, ok := g.(orb.Collection)
	if !ok {
		return map[string]any{"type": g.GeoJSONType(), "coordinates": lists(reflect.ValueOf(g))}
	}
	members := make([]any, len(c))
	for i, part := range c {
		members[i] = GeoJSON(part)
	}
	return map[string]any{"type": "GeometryCollection", "geometries": members}
}

// lists is the reverse of fill.
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
