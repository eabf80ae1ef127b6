package repl

import (
	"fmt"
	"math"

	lua "github.com/yuin/gopher-lua"
)

var geometries = map[string]bool{"Point": true, "MultiPoint": true, "LineString": true, "MultiLineString": true,
	"Polygon": true, "MultiPolygon": true, "GeometryCollection": true, "Feature": true, "FeatureCollection": true}

// geometry summarizes a GeoJSON table: type, number of points and bounding box.
// It is "" for other tables.
func geometry(t *lua.LTable) string {
	kind, ok := t.RawGetString("type").(lua.LString)
	if !ok || !geometries[string(kind)] {
		return ""
	}
	e := extent{west: math.Inf(1), south: math.Inf(1), east: math.Inf(-1), north: math.Inf(-1)}
	if !e.object(t, 0) || e.points == 0 {
		return ""
	}
	what := fmt.Sprintf("%d points", e.points)
	if features, ok := t.RawGetString("features").(*lua.LTable); ok {
		what = fmt.Sprintf("%d features, %s", features.Len(), what)
	}
	if e.points == 1 {
		return fmt.Sprintf("%s (%.6g, %.6g)", kind, e.west, e.south)
	}
	return fmt.Sprintf("%s, %s, bbox %.6g %.6g %.6g %.6g", kind, what, e.west, e.south, e.east, e.north)
}

type extent struct {
	points                   int
	west, south, east, north float64
}

// object adds the points of a GeoJSON object.
func (e *extent) object(t *lua.LTable, depth int) bool {
	if depth > 4 {
		return false
	}
	for _, member := range []string{"geometry", "geometries", "features"} {
		inner, ok := t.RawGetString(member).(*lua.LTable)
		if !ok {
			continue
		}
		if member == "geometry" {
			return e.object(inner, depth+1)
		}
		for i := 1; i <= inner.Len(); i++ {
			if each, ok := inner.RawGetInt(i).(*lua.LTable); !ok || !e.object(each, depth+1) {
				return false
			}
		}
		return true
	}
	coordinates, ok := t.RawGetString("coordinates").(*lua.LTable)
	return ok && e.positions(coordinates, 0)
}

func (e *extent) positions(t *lua.LTable, depth int) bool {
	if x, ok := t.RawGetInt(1).(lua.LNumber); ok {
		y, ok := t.RawGetInt(2).(lua.LNumber)
		e.points++
		e.west, e.east = min(e.west, float64(x)), max(e.east, float64(x))
		e.south, e.north = min(e.south, float64(y)), max(e.north, float64(y))
		return ok
	}
	for i := 1; i <= t.Len(); i++ {
		if inner, ok := t.RawGetInt(i).(*lua.LTable); !ok || depth > 4 || !e.positions(inner, depth+1) {
			return false
		}
	}
	return true
}
