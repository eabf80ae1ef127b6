// Package geometry computes with the geometries of GeoJSON: area and length on
// the ellipsoid; hull, centroid, containment and simplification on a local
// plane. GeoJSON objects come in already checked (client/geojson) and are
// converted to orb geometries here, by hand because orb/geojson brings the
// MongoDB driver along. The Lua module geo is the only caller. Start reading
// at Of and OnPlane.
package geometry

import (
	"encoding/json"

	"github.com/paulmach/orb"
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
	typ, _ := o["type"].(string)
	if shape := toOrb(typ, o["coordinates"]); shape != nil && len(Positions(shape)) > 0 {
		*parts = append(*parts, shape)
	}
}

// toOrb converts checked coordinates, without altitudes.
func toOrb(typ string, coordinates any) orb.Geometry {
	switch typ {
	case "Point":
		if list, ok := coordinates.([]any); !ok || len(list) == 0 {
			return nil
		}
		return orbPoint(coordinates)
	case "MultiPoint":
		return orb.MultiPoint(orbList(coordinates, orbPoint))
	case "LineString":
		return orb.LineString(orbList(coordinates, orbPoint))
	case "MultiLineString":
		return orb.MultiLineString(orbList(coordinates, func(v any) orb.LineString { return orbList(v, orbPoint) }))
	case "Polygon":
		return orbPolygon(coordinates)
	case "MultiPolygon":
		return orb.MultiPolygon(orbList(coordinates, orbPolygon))
	}
	return nil
}

func orbPolygon(v any) orb.Polygon {
	return orbList(v, func(v any) orb.Ring { return orbList(v, orbPoint) })
}

func orbPoint(v any) orb.Point {
	list := v.([]any)
	return orb.Point{orbNumber(list[0]), orbNumber(list[1])}
}

func orbNumber(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	case json.Number:
		f, _ := v.Float64()
		return f
	}
	return 0
}

func orbList[T any](v any, of func(any) T) []T {
	list, _ := v.([]any)
	out := make([]T, len(list))
	for i, e := range list {
		out[i] = of(e)
	}
	return out
}

// GeoJSON converts a geometry to its GeoJSON object.
func GeoJSON(g orb.Geometry) map[string]any {
	if c, ok := g.(orb.Collection); ok {
		return map[string]any{"type": "GeometryCollection", "geometries": tables(c, func(g orb.Geometry) any { return GeoJSON(g) })}
	}
	var coordinates any
	point := func(p orb.Point) any { return []any{p[0], p[1]} }
	line := func(l orb.LineString) any { return tables(l, point) }
	polygon := func(p orb.Polygon) any { return tables(p, func(r orb.Ring) any { return tables(r, point) }) }
	switch g := g.(type) {
	case orb.Point:
		coordinates = point(g)
	case orb.MultiPoint:
		coordinates = tables(g, point)
	case orb.LineString:
		coordinates = line(g)
	case orb.MultiLineString:
		coordinates = tables(g, line)
	case orb.Polygon:
		coordinates = polygon(g)
	case orb.MultiPolygon:
		coordinates = tables(g, polygon)
	}
	return map[string]any{"type": g.GeoJSONType(), "coordinates": coordinates}
}

func tables[T any](list []T, of func(T) any) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = of(e)
	}
	return out
}
