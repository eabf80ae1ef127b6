package stdlib

import (
	"errors"
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/simplify"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/geojson"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/geometry"
	"transect/stdlib/internal/wkt"
)

// geoObject reads an argument as a GeoJSON object: an object, a resource with a geometry, or a position.
func geoObject(c *module.Call, name string) map[string]any {
	value := c.Value(name)
	if _, object := value.(*lua.LUserData); object { // a resource
		value = c.L.GetField(value, "geometry")
	}
	v, err := vm.FromLua(c.L, value)
	if err != nil {
		c.Raise(fault.Of(&fault.ParameterError{}, "argument %s: %w", name, err))
	}
	if list, ok := v.([]any); ok {
		v = map[string]any{"type": "Point", "coordinates": list}
	}
	plain := schema.PlainGeoJSON(v)
	if err := geojson.Check(plain, geojson.Options{Empty: true}); err != nil {
		c.Raise(fault.Of(&fault.ValueError{}, "argument %s is not GeoJSON: %w", name, err))
	}
	return plain.(map[string]any)
}

// shape reads an argument as a geometry to compute with.
func shape(c *module.Call, name string) orb.Geometry {
	g, ok := geojson.Shape(geoObject(c, name))
	if !ok {
		c.Raise(fault.Of(&fault.ValueError{}, "argument %s has no geometry", name))
	}
	return g
}

// point reads an argument as a point.
func point(c *module.Call, name string) orb.Point {
	g := shape(c, name)
	p, ok := g.(orb.Point)
	if !ok {
		c.Raise(fault.Of(&fault.ParameterError{}, "argument %s must be a Point or { longitude, latitude }, got a %s", name,
			g.GeoJSONType()))
	}
	return p
}

// box reads an argument as a box, or the box of a shape.
func box(c *module.Call, name string) orb.Bound {
	t, ok := c.Value(name).(*lua.LTable)
	if !ok || t.Len() != 4 {
		return shape(c, name).Bound()
	}
	var n [4]float64
	for i := range n {
		v, ok := t.RawGetInt(i + 1).(lua.LNumber)
		if !ok {
			c.Raise(fault.Of(&fault.BoundingBoxError{}, "argument %s must be { west, south, east, north }, four numbers", name))
		}
		n[i] = float64(v)
	}
	if !(n[0] <= n[2] && n[1] <= n[3]) {
		c.Raise(fault.Of(&fault.BoundingBoxError{}, "argument %s: west must not be east of east, nor south north of north",
			name))
	}
	return orb.Bound{Min: orb.Point{n[0], n[1]}, Max: orb.Point{n[2], n[3]}}
}

func boxList(b orb.Bound) []any { return []any{b.Min[0], b.Min[1], b.Max[0], b.Max[1]} }

// onPlane applies f to the argument geometry in its local plane.
func onPlane(c *module.Call, f func(orb.Geometry) (orb.Geometry, error)) (any, error) {
	g, err := geometry.OnPlane(shape(c, "geometry"), f)
	c.Must(err)
	return geojson.Object(g), nil
}

func simplified(c *module.Call) (any, error) {
	tolerance := c.Number("tolerance")
	if !(tolerance > 0) || math.IsInf(tolerance, 0) {
		return nil, fault.Of(&fault.ParameterError{}, "argument tolerance must be positive, got %v", tolerance)
	}
	reduce := func(g orb.Geometry) (orb.Geometry, error) {
		return geometry.Simplify(g, simplify.DouglasPeucker(tolerance)), nil
	}
	if c.String("unit") == "metres" {
		return onPlane(c, reduce)
	}
	g, err := reduce(orb.Clone(shape(c, "geometry")))
	return geojson.Object(g), err
}

var wktFuncs = []module.Func{
	{
		Name: "to_wkt", Doc: "Writes a geometry as WKT. Altitudes are written as Z; measures (the member measures, or a " +
			"fourth number of a position) as M. " +
			"Several geometries, as of a FeatureCollection, become a GEOMETRYCOLLECTION.",
		Params: []module.Param{geoShape, {Name: "options", Fields: []module.Param{
			{Name: "heights", Type: "boolean", Doc: "false omits altitudes and measures", Default: true}}}},
		Returns: "the text",
		Call: func(c *module.Call) (any, error) {
			g := plainGeometry(c, "geometry")
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
		Name: "from_wkt", Doc: "Reads WKT with altitudes (Z), measures (M) and EMPTY, optionally prefixed with SRID=4326;. " +
			"Measures become the member measures of the geometry, " +
			"nested as its coordinates are, with a number in the place of each position.",
		Params: []module.Param{{Name: "text", Type: "string", Doc: "such as POINT(4.5 52)"}}, Returns: "a geometry",
		Call: func(c *module.Call) (any, error) {
			v, err := wkt.Parse(c.String("text"))
			if err != nil {
				return nil, fault.Hinted(fault.Of(&fault.ValueError{}, "the text is not WKT: %w", err),
					"write it like POLYGON((4 52,5 52,5 53,4 52))")
			}
			return v, checkGeoJSON(v, geojson.Options{AnyNumber: true, Empty: true})
		},
	},
}

// plainGeometry reads an argument as a GeoJSON geometry, keeping all numbers of its positions.
func plainGeometry(c *module.Call, name string) map[string]any {
	o := geoObject(c, name)
	if o["type"] == "FeatureCollection" {
		members := []any{}
		for _, f := range o["features"].([]any) {
			if g, ok := f.(map[string]any)["geometry"].(map[string]any); ok {
				members = append(members, g)
			}
		}
		return map[string]any{"type": "GeometryCollection", "geometries": members}
	}
	if o["type"] == "Feature" {
		g, ok := o["geometry"].(map[string]any)
		if !ok {
			c.Raise(fault.Of(&fault.ValueError{}, "argument %s has no geometry", name))
		}
		return g
	}
	return o
}

// flatten reduces each position to longitude and latitude. It changes the geometry, which belongs to the
// call.
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
