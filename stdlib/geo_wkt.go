package stdlib

import (
	"errors"

	"transect/client/fault"
	"transect/client/geojson"
	"transect/runtime/module"
	"transect/stdlib/wkt"
)

var wktFuncs = []module.Func{
	{
		Name: "to_wkt", Doc: "Writes a geometry as WKT. Altitudes are written as Z; measures (the member measures, or a fourth number of a position) as M. " +
			"Several geometries, as of a FeatureCollection, become a GEOMETRYCOLLECTION.",
		Params: []module.Param{geoShape, {Name: "options", Fields: []module.Param{
			{Name: "heights", Type: "boolean", Doc: "false omits altitudes and measures", Default: true}}}},
		Returns: "the text",
		Call: func(c *module.Call) (any, error) {
			g, err := plainGeometry(c, "geometry")
			if err != nil {
				return nil, err
			}
			if !c.Bool("heights") {
				flatten(g)
			}
			text, err := wkt.Format(g)
			if errors.Is(err, wkt.ErrMixed) {
				return nil, fault.Hinted(fault.Of(&fault.ValueError{}, "%w", err), "heights = false leaves them out")
			}
			return text, err
		},
	},
	{
		Name: "from_wkt", Doc: "Reads WKT with altitudes (Z), measures (M) and EMPTY, optionally prefixed with SRID=4326;. Measures become the member measures of the geometry, " +
			"nested as its coordinates are, with a number in the place of each position.",
		Params: []module.Param{{Name: "text", Type: "string", Doc: "such as POINT(4.5 52)"}}, Returns: "a geometry",
		Call: func(c *module.Call) (any, error) {
			v, err := wkt.Parse(c.String("text"))
			if err != nil {
				return nil, fault.Hinted(fault.Of(&fault.ValueError{}, "the text is no WKT: %w", err), "write it like POLYGON((4 52,5 52,5 53,4 52))")
			}
			return v, checked(v, geojson.Options{AnyNumber: true, Empty: true})
		},
	},
}

// plainGeometry reads an argument as a GeoJSON geometry, with all that its
// positions hold.
func plainGeometry(c *module.Call, name string) (map[string]any, error) {
	o, err := geoObject(c, name)
	if err != nil {
		return nil, err
	}
	if o["type"] == "FeatureCollection" {
		members := []any{}
		for _, f := range o["features"].([]any) {
			if g, ok := f.(map[string]any)["geometry"].(map[string]any); ok {
				members = append(members, g)
			}
		}
		return map[string]any{"type": "GeometryCollection", "geometries": members}, nil
	}
	if o["type"] == "Feature" {
		g, ok := o["geometry"].(map[string]any)
		if !ok {
			return nil, fault.Of(&fault.ValueError{}, "argument %s has no geometry", name)
		}
		return g, nil
	}
	return o, nil
}

// flatten leaves longitude and latitude of each position. The geometry is
// changed; it is the call's own.
func flatten(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "measures")
		for _, member := range []string{"coordinates", "geometries"} {
			if list, ok := v[member]; ok {
				v[member] = flatten(list)
			}
		}
	case []any:
		if len(v) > 2 {
			if _, position := geojson.Number(v[0]); position {
				return v[:2]
			}
		}
		for i := range v {
			v[i] = flatten(v[i])
		}
	}
	return v
}
