package repl

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"transect/client/geojson"
	"transect/client/schema"
	"transect/runtime/vm"
	"transect/stdlib/geometry"
)

var geometries = map[string]bool{"Point": true, "MultiPoint": true, "LineString": true, "MultiLineString": true,
	"Polygon": true, "MultiPolygon": true, "GeometryCollection": true, "Feature": true, "FeatureCollection": true}

// geometryText summarizes a GeoJSON table: type, number of points and bounding box.
// It is "" for other tables.
func geometryText(t *lua.LTable) string {
	kind, ok := t.RawGetString("type").(lua.LString)
	if !ok || !geometries[string(kind)] {
		return ""
	}
	v, err := vm.FromLua(nil, t)
	plain := schema.PlainGeoJSON(v)
	if err != nil || geojson.Check(plain, geojson.Options{AnyNumber: true, Empty: true}) != nil {
		return ""
	}
	object := plain.(map[string]any)
	g, ok := geojson.Shape(object)
	if !ok {
		return ""
	}
	points, box := len(geometry.Positions(g)), g.Bound()
	if points == 1 {
		return fmt.Sprintf("%s (%.6g, %.6g)", kind, box.Min[0], box.Min[1])
	}
	what := fmt.Sprintf("%d points", points)
	if features, ok := object["features"].([]any); ok {
		what = fmt.Sprintf("%d features, %s", len(features), what)
	}
	return fmt.Sprintf("%s, %s, bbox %.6g %.6g %.6g %.6g", kind, what, box.Min[0], box.Min[1], box.Max[0], box.Max[1])
}
