package stdlib

import (
	"errors"
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/simplify"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/geojson"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/geometry"
	"transect/stdlib/wkt"
)

// geoObject reads an argument as a GeoJSON object: one, a resource with a
// geometry, or a position.
func geoObject(c *module.Call, name string) (map[string]any, error) {
	value := c.Value(name)
	if _, object := value.(*lua.LUserData); object { // a resource
		value = c.L.GetField(value, "geometry")
	}
	v, err := vm.FromLua(value)
	if err != nil {
		return nil, fault.Of(&fault.ParameterError{}, "argument %s: %w", name, err)
	}
	if list, ok := v.([]any); ok {
		v = map[string]any{"type": "Point", "coordinates": list}
	}
	plain := plainTables(v)
	if err := geojson.Check(plain, geojson.Options{Empty: true}); err != nil {
		return nil, fault.Of(&fault.ValueError{}, "argument %s is no GeoJSON: %w", name, err)
	}
	return plain.(map[string]any), nil
}

// shapes reads the shapes among the arguments of a call. The first error stays;
// what is read after it is a point at 0, 0.
type shapes struct {
	*module.Call
	err error
}

// shaped makes the call of a function that works on shapes.
func shaped(f func(s *shapes) any) func(*module.Call) (any, error) {
	return func(c *module.Call) (any, error) {
		s := &shapes{Call: c}
		v := f(s)
		return v, s.err
	}
}

func (s *shapes) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// shape reads an argument as a geometry to work on.
func (s *shapes) shape(name string) orb.Geometry {
	o, err := geoObject(s.Call, name)
	g, ok := geometry.Of(o)
	if err == nil && !ok {
		err = fault.Of(&fault.ValueError{}, "argument %s has no geometry", name)
	}
	if err != nil {
		s.fail(err)
		return orb.Point{}
	}
	return g
}

// point reads an argument that is a point.
func (s *shapes) point(name string) orb.Point {
	g := s.shape(name)
	p, ok := g.(orb.Point)
	if !ok {
		s.fail(fault.Of(&fault.ParameterError{}, "argument %s must be a Point or { longitude, latitude }, got a %s", name, g.GeoJSONType()))
	}
	return p
}

// box reads an argument that is a box, or the box of a shape.
func (s *shapes) box(name string) orb.Bound {
	t, ok := s.Value(name).(*lua.LTable)
	if !ok || t.Len() != 4 {
		return s.shape(name).Bound()
	}
	var n [4]float64
	for i := range n {
		v, ok := t.RawGetInt(i + 1).(lua.LNumber)
		if !ok {
			s.fail(fault.Of(&fault.BoundingBoxError{}, "argument %s must be { west, south, east, north }, four numbers", name))
		}
		n[i] = float64(v)
	}
	if !(n[0] <= n[2] && n[1] <= n[3]) {
		s.fail(fault.Of(&fault.BoundingBoxError{}, "argument %s: west must not lie east of east, nor south north of north", name))
	}
	return orb.Bound{Min: orb.Point{n[0], n[1]}, Max: orb.Point{n[2], n[3]}}
}

func boxList(b orb.Bound) []any { return []any{b.Min[0], b.Min[1], b.Max[0], b.Max[1]} }

// onPlane applies f to the argument geometry in its local plane.
func (s *shapes) onPlane(f func(orb.Geometry) (orb.Geometry, error)) any {
	g, err := geometry.OnPlane(s.shape("geometry"), f)
	if err != nil {
		s.fail(err)
		return nil
	}
	return geometry.GeoJSON(g)
}

func simplified(s *shapes) any {
	tolerance := s.Number("tolerance")
	if !(tolerance > 0) || math.IsInf(tolerance, 0) {
		s.fail(fault.Of(&fault.ParameterError{}, "argument tolerance must be positive, got %v", tolerance))
		return nil
	}
	reduce := func(g orb.Geometry) (orb.Geometry, error) {
		return geometry.Simplify(g, simplify.DouglasPeucker(tolerance)), nil
	}
	if s.String("unit") == "metres" {
		return s.onPlane(reduce)
	}
	g, _ := reduce(orb.Clone(s.shape("geometry")))
	return geometry.GeoJSON(g)
}

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
