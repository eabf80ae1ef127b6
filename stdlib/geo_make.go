package stdlib

import (
	"reflect"

	"transect/client/fault"
	"transect/client/geojson"
	"transect/client/schema"
	"transect/runtime/module"
)

// geoMaker declares a function that creates a GeoJSON object from the list in a member; shape normalises the
// list.
func geoMaker(name, typ, doc, member, list string, shape func(any) any) module.Func {
	return module.Func{
		Name: name, Doc: doc, Params: []module.Param{{Name: member, Type: "table", Doc: list}}, Returns: "a " + typ,
		Call: func(c *module.Call) (any, error) {
			v := c.Go(member)
			if _, empty := v.(schema.Empty); empty {
				v = []any{}
			}
			return newGeoJSON(map[string]any{"type": typ, member: shape(v)})
		},
	}
}

func same(v any) any { return v }

var geoMakers = []module.Func{
	{
		Name: "point", Doc: "Makes a Point.",
		Params: []module.Param{{Name: "longitude", Type: "number", Doc: "degrees east"},
			{Name: "latitude", Type: "number", Doc: "degrees north"},
			{Name: "altitude", Type: "number", Doc: "metres", Optional: true}},
		Returns: "a Point",
		Call: func(c *module.Call) (any, error) {
			at := []any{c.Number("longitude"), c.Number("latitude")}
			if c.Has("altitude") {
				at = append(at, c.Number("altitude"))
			}
			return newGeoJSON(map[string]any{"type": "Point", "coordinates": at})
		},
	},
	geoMaker("line", "LineString", "Makes a LineString.", "coordinates", "a list of positions", same),
	geoMaker("polygon", "Polygon", "Makes a Polygon. Rings that are not closed are closed.", "coordinates",
		"a ring of positions, or a list of rings, the outer one first", polygonOf),
	geoMaker("multi_point", "MultiPoint", "Makes a MultiPoint.", "coordinates", "a list of positions", same),
	geoMaker("multi_line", "MultiLineString", "Makes a MultiLineString.", "coordinates", "a list of lists of positions",
		same),
	geoMaker("multi_polygon", "MultiPolygon", "Makes a MultiPolygon. Rings that are not closed are closed.", "coordinates",
		"a list of polygons, each a ring or a list of rings", func(v any) any { return each(v, polygonOf) }),
	geoMaker("collection", "GeometryCollection", "Makes a GeometryCollection.", "geometries", "a list of geometries",
		same),
	{
		Name: "feature", Doc: "Makes a Feature: a geometry with properties.",
		Params: []module.Param{{Name: "geometry", Type: "table", Doc: "a geometry"},
			{Name: "properties", Type: "table", Doc: "its properties", Optional: true},
			{Name: "id", Type: "string|number", Doc: "its id", Optional: true}},
		Returns: "a Feature",
		Call: func(c *module.Call) (any, error) {
			f := map[string]any{"type": "Feature", "properties": map[string]any{}}
			for _, member := range []string{"geometry", "properties", "id"} {
				if c.Has(member) {
					f[member] = c.Go(member)
				}
			}
			return newGeoJSON(f)
		},
	},
	geoMaker("features", "FeatureCollection", "Makes a FeatureCollection.", "features", "a list of Features", same),
}

// newGeoJSON returns a new object after checking it.
func newGeoJSON(v any) (any, error) { return v, checkGeoJSON(v, geojson.Options{}) }

// checkGeoJSON returns the result of the GeoJSON check as a ValueError.
func checkGeoJSON(v any, opt geojson.Options) error {
	if err := geojson.Check(schema.PlainGeoJSON(v), opt); err != nil {
		return fault.Of(&fault.ValueError{}, "this is not GeoJSON: %w", err)
	}
	return nil
}

// polygonOf normalises one ring or several to the closed rings of a polygon.
func polygonOf(v any) any {
	rings, ok := v.([]any)
	if !ok || len(rings) == 0 {
		return v
	}
	if first, ok := rings[0].([]any); ok && len(first) > 0 {
		if _, list := first[0].([]any); !list {
			rings = []any{rings} // one ring of positions
		}
	}
	return each(rings, func(v any) any {
		ring, ok := v.([]any)
		if !ok || len(ring) < 3 || reflect.DeepEqual(ring[0], ring[len(ring)-1]) {
			return v
		}
		return append(append([]any(nil), ring...), ring[0])
	})
}

func each(v any, f func(any) any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = f(e)
	}
	return out
}
