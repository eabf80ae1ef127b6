package stdlib

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/simplify"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/geojson"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/geometry"
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

// shape reads an argument as a geometry to work on.
func shape(c *module.Call, name string) (orb.Geometry, error) {
	o, err := geoObject(c, name)
	if err != nil {
		return nil, err
	}
	g, ok := geometry.Of(o)
	if !ok {
		return nil, fault.Of(&fault.ValueError{}, "argument %s has no geometry", name)
	}
	return g, nil
}

// position reads an argument that is a point.
func position(c *module.Call, name string) (orb.Point, error) {
	g, err := shape(c, name)
	if err != nil {
		return orb.Point{}, err
	}
	p, ok := g.(orb.Point)
	if !ok {
		return p, fault.Of(&fault.ParameterError{}, "argument %s must be a Point or { longitude, latitude }, got a %s", name, g.GeoJSONType())
	}
	return p, nil
}

// box reads an argument that is a box, or the box of a shape.
func box(c *module.Call, name string) (orb.Bound, error) {
	if t, ok := c.Value(name).(*lua.LTable); ok && t.Len() == 4 {
		var n [4]float64
		for i := range n {
			v, ok := t.RawGetInt(i + 1).(lua.LNumber)
			if !ok {
				return orb.Bound{}, fault.Of(&fault.BoundingBoxError{}, "argument %s must be { west, south, east, north }, four numbers", name)
			}
			n[i] = float64(v)
		}
		if !(n[0] <= n[2] && n[1] <= n[3]) {
			return orb.Bound{}, fault.Of(&fault.BoundingBoxError{}, "argument %s: west must not lie east of east, nor south north of north", name)
		}
		return orb.Bound{Min: orb.Point{n[0], n[1]}, Max: orb.Point{n[2], n[3]}}, nil
	}
	g, err := shape(c, name)
	if err != nil {
		return orb.Bound{}, err
	}
	return g.Bound(), nil
}

func boxList(b orb.Bound) []any { return []any{b.Min[0], b.Min[1], b.Max[0], b.Max[1]} }

// onPlane declares a function that works on the plane.
func onPlane(f func(orb.Geometry) (orb.Geometry, error)) func(*module.Call) (any, error) {
	return func(c *module.Call) (any, error) {
		g, err := shape(c, "geometry")
		if err != nil {
			return nil, err
		}
		if g, err = geometry.OnPlane(g, f); err != nil {
			return nil, err
		}
		return geometry.GeoJSON(g), nil
	}
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
		return onPlane(reduce)(c)
	}
	g, err := shape(c, "geometry")
	if err != nil {
		return nil, err
	}
	return geometry.GeoJSON(geometry.Simplify(orb.Clone(g), simplify.DouglasPeucker(tolerance))), nil
}
