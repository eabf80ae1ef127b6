package stdlib

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"github.com/paulmach/orb/project"
	"github.com/paulmach/orb/simplify"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/geojson"
	"transect/client/imagery"
	"transect/runtime/vm"
)

// shape reads an argument as a geometry.
func shape(c *vm.Call, name string) (orb.Geometry, error) {
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
	if err := geojson.Check(plain, geojson.Options{}); err != nil {
		return nil, fault.Of(&fault.ValueError{}, "argument %s is no GeoJSON: %w", name, err)
	}
	var parts orb.Collection
	gather(plain.(map[string]any), &parts)
	switch len(parts) {
	case 0:
		return nil, fault.Of(&fault.ValueError{}, "argument %s has no geometry", name)
	case 1:
		return parts[0], nil
	}
	return parts, nil
}

// gather collects the geometries of an object that was checked. Empty ones
// have no place, so they are left out.
func gather(o map[string]any, parts *orb.Collection) {
	for _, member := range []string{"features", "geometries"} {
		if list, ok := o[member].([]any); ok {
			for _, e := range list {
				gather(e.(map[string]any), parts)
			}
			return
		}
	}
	if o["type"] == "Feature" {
		if inner, ok := o["geometry"].(map[string]any); ok {
			gather(inner, parts)
		}
		return
	}
	typ, _ := o["type"].(string)
	if shape := toOrb(typ, o["coordinates"]); shape != nil && len(corners(shape)) > 0 {
		*parts = append(*parts, shape)
	}
}

// position reads an argument that is a point.
func position(c *vm.Call, name string) (orb.Point, error) {
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
func box(c *vm.Call, name string) (orb.Bound, error) {
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

// contains says whether a point lies in any area of g, and how many there are.
func contains(g orb.Geometry, p orb.Point) (inside bool, areas int) {
	switch g := g.(type) {
	case orb.Polygon:
		return planar.PolygonContains(g, p), 1
	case orb.MultiPolygon:
		return planar.MultiPolygonContains(g, p), 1
	case orb.Collection:
		for _, part := range g {
			in, n := contains(part, p)
			inside, areas = inside || in, areas+n
		}
	}
	return inside, areas
}

// plane is a map in metres around the middle of a shape: true to well under a
// percent over the tens of kilometres of a survey.
func plane(g orb.Geometry) (to, from orb.Projection) {
	middle := g.Bound().Center()
	metres := orb.EarthRadius * math.Pi / 180
	east := metres * max(math.Cos(middle[1]*math.Pi/180), 1e-6)
	to = func(p orb.Point) orb.Point { return orb.Point{(p[0] - middle[0]) * east, (p[1] - middle[1]) * metres} }
	round := func(v float64) float64 { return math.Round(v*1e9) / 1e9 } // a tenth of a millimetre
	from = func(p orb.Point) orb.Point {
		return orb.Point{round(p[0]/east + middle[0]), round(p[1]/metres + middle[1])}
	}
	return to, from
}

// onPlane declares a function that works on the plane.
func onPlane(f func(orb.Geometry) (orb.Geometry, error)) func(*vm.Call) (any, error) {
	return func(c *vm.Call) (any, error) {
		g, err := shape(c, "geometry")
		if err != nil {
			return nil, err
		}
		to, from := plane(g)
		if g, err = f(project.Geometry(orb.Clone(g), to)); err != nil {
			return nil, err
		}
		return fromOrb(project.Geometry(g, from))
	}
}

func hull(g orb.Geometry) (orb.Geometry, error) {
	ring := orb.Ring(imagery.ConvexHull(corners(g)))
	if len(ring) < 3 {
		return nil, fault.Of(&fault.ValueError{}, "the positions lie on one line, so they enclose nothing")
	}
	return orb.Polygon{append(ring, ring[0])}, nil
}

// corners lists the positions of a geometry.
func corners(g orb.Geometry) []orb.Point {
	var points []orb.Point
	switch g := g.(type) {
	case orb.Point:
		return []orb.Point{g}
	case orb.MultiPoint:
		return g
	case orb.LineString:
		return g
	case orb.MultiLineString:
		for _, part := range g {
			points = append(points, part...)
		}
	case orb.Polygon:
		for _, part := range g {
			points = append(points, part...)
		}
	case orb.MultiPolygon:
		for _, part := range g {
			points = append(points, corners(part)...)
		}
	case orb.Collection:
		for _, part := range g {
			points = append(points, corners(part)...)
		}
	}
	return points
}

func simplified(c *vm.Call) (any, error) {
	tolerance := c.Number("tolerance")
	if !(tolerance > 0) || math.IsInf(tolerance, 0) {
		return nil, fault.Of(&fault.ParameterError{}, "argument tolerance must be positive, got %v", tolerance)
	}
	reduce := func(g orb.Geometry) (orb.Geometry, error) { return thin(g, simplify.DouglasPeucker(tolerance)), nil }
	if c.String("unit") == "metres" {
		return onPlane(reduce)(c)
	}
	g, err := shape(c, "geometry")
	if err != nil {
		return nil, err
	}
	return fromOrb(thin(orb.Clone(g), simplify.DouglasPeucker(tolerance)))
}

// thin simplifies; a ring that would vanish stays as it is.
func thin(g orb.Geometry, by orb.Simplifier) orb.Geometry {
	switch g := g.(type) {
	case orb.Polygon:
		out := make(orb.Polygon, len(g))
		for i, ring := range g {
			if out[i] = by.Ring(ring.Clone()); len(out[i]) < 4 {
				out[i] = ring
			}
		}
		return out
	case orb.MultiPolygon:
		for i, part := range g {
			g[i] = thin(part, by).(orb.Polygon)
		}
		return g
	case orb.Collection:
		for i, part := range g {
			g[i] = thin(part, by)
		}
		return g
	}
	return by.Simplify(g)
}
