package stdlib

import (
	"encoding/json"

	"github.com/paulmach/orb"
)

// toOrb makes the geometry of coordinates that were checked. Heights are left
// out.
func toOrb(typ string, coordinates any) orb.Geometry {
	switch typ {
	case "Point":
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

// fromOrb makes the table of a geometry.
func fromOrb(g orb.Geometry) (any, error) {
	if c, ok := g.(orb.Collection); ok {
		return map[string]any{"type": "GeometryCollection", "geometries": tables(c, func(g orb.Geometry) any { v, _ := fromOrb(g); return v })}, nil
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
	return map[string]any{"type": g.GeoJSONType(), "coordinates": coordinates}, nil
}

func tables[T any](list []T, of func(T) any) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = of(e)
	}
	return out
}
