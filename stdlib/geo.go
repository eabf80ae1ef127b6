package stdlib

import (
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"transect/client/fault"
	"transect/client/geojson"
	"transect/runtime/module"
	"transect/stdlib/geometry"
)

var (
	geoShape = module.Param{Name: "geometry", Type: "any", Doc: "a geometry, Feature or FeatureCollection, a resource with a geometry, or a position"}
	geoPoint = func(name string) module.Param {
		return module.Param{Name: name, Type: "any", Doc: "a Point, or { longitude, latitude }"}
	}
)

// geoNumber declares a measure of a shape.
func geoNumber(name, doc, returns, example string, f func(orb.Geometry) float64) module.Func {
	return module.Func{
		Name: name, Doc: doc, Params: []module.Param{geoShape}, Returns: returns, Example: example,
		Call: func(c *module.Call) (any, error) {
			g, err := shape(c, "geometry")
			if err != nil {
				return nil, err
			}
			return f(g), nil
		},
	}
}

var geoModule = &module.Module{
	Name: "geo",
	Doc: "Makes, checks and measures GeoJSON: positions are { longitude, latitude } in degrees (WGS 84), results in metres. Lengths and areas are geodesic, on the WGS 84 ellipsoid " +
		"(geodesics, Karney 2013), good to less than a millimetre; heights are kept by what makes geometries and ignored by what measures them. Nothing is cut at the antimeridian.",
	Funcs: append(geoMakers, append([]module.Func{
		{
			Name: "check", Doc: "Checks GeoJSON (RFC 7946); a ValueError names the wrong coordinate.",
			Params: []module.Param{{Name: "value", Type: "table", Doc: "a geometry, Feature or FeatureCollection"}, {Name: "options", Fields: []module.Param{
				{Name: "any_number", Type: "boolean", Doc: "accept any number as coordinate, for pixels or metres", Default: false}}}},
			Returns: "the value",
			Example: `local _, err = try(require("geo").check, { type = "Point", coordinates = { 4, 91 } })
assert(err.name == "ValueError" and err.message:find("coordinates%[2%]"))`,
			Call: func(c *module.Call) (any, error) {
				v, err := c.Go("value")
				if err == nil {
					err = checked(v, geojson.Options{AnyNumber: c.Bool("any_number")})
				}
				return c.Value("value"), err
			},
		},
		{
			Name: "bbox", Doc: "The bounding box of a shape.", Params: []module.Param{geoShape}, Returns: "{ west, south, east, north }",
			Example: `local box = require("geo").bbox({ type = "LineString", coordinates = { { 4, 52 }, { 5, 51 } } })
assert(box[1] == 4 and box[2] == 51 and box[3] == 5 and box[4] == 52)`,
			Call: func(c *module.Call) (any, error) {
				g, err := shape(c, "geometry")
				if err != nil {
					return nil, err
				}
				return boxList(g.Bound()), nil
			},
		},
		{
			Name: "bbox_pad", Doc: "Extends a box by a distance on each side, at most to the poles; one that would circle the globe spans -180 to 180.",
			Params:  []module.Param{{Name: "bbox", Type: "any", Doc: "{ west, south, east, north }, or a shape"}, {Name: "metres", Type: "number", Doc: "how many"}},
			Returns: "{ west, south, east, north }",
			Example: `assert(require("geo").bbox_pad({ 4, 52, 4, 52 }, 100)[1] < 4)`,
			Call: func(c *module.Call) (any, error) {
				b, err := box(c, "bbox")
				if err != nil {
					return nil, err
				}
				return boxList(geometry.Pad(b, c.Number("metres"))), nil
			},
		},
		{
			Name: "bbox_intersects", Doc: "Reports whether two boxes share a point: a quick test before exact ones.",
			Params:  []module.Param{{Name: "a", Type: "any", Doc: "{ west, south, east, north }, or a shape"}, {Name: "b", Type: "any", Doc: "the same"}},
			Returns: "true or false",
			Example: `assert(require("geo").bbox_intersects({ 4, 51, 5, 52 }, { 4.5, 51.5, 6, 53 }))`,
			Call: func(c *module.Call) (any, error) {
				a, err := box(c, "a")
				if err != nil {
					return nil, err
				}
				b, err := box(c, "b")
				return err == nil && a.Intersects(b), err
			},
		},
		geoNumber("area", "The area of polygons, holes left out, on the ellipsoid. Edges are shortest lines; which way round a ring goes does not matter.", "square metres; 0 for points and lines",
			`local geo = require("geo")
local area = geo.area(geo.polygon({ { 4, 52 }, { 4.01, 52 }, { 4.01, 52.01 }, { 4, 52.01 } }))
assert(area > 7.6e5 and area < 7.7e5)`, geometry.Area),
		geoNumber("length", "The length of lines, and of the edges of polygons, on the ellipsoid.", "metres",
			`assert(math.abs(require("geo").length({ type = "LineString", coordinates = { { 4, 52 }, { 4, 53 } } }) - 111276.8) < 0.1)`, geometry.Length),
		{
			Name: "distance", Doc: "The geodesic distance between two points.", Params: []module.Param{geoPoint("a"), geoPoint("b")}, Returns: "metres",
			Example: `assert(math.abs(require("geo").distance({ 4, 52 }, { 4, 53 }) - 111276.8) < 0.1)`,
			Call: func(c *module.Call) (any, error) {
				a, err := position(c, "a")
				if err != nil {
					return nil, err
				}
				b, err := position(c, "b")
				return geometry.Between(a, b).Metres, err
			},
		},
		{
			Name: "bearing", Doc: "The azimuth at a of the geodesic to b.", Params: []module.Param{geoPoint("a"), geoPoint("b")},
			Returns: "degrees clockwise from north, 0 to 360",
			Example: `assert(require("geo").bearing({ 4, 0 }, { 5, 0 }) == 90)`,
			Call: func(c *module.Call) (any, error) {
				a, err := position(c, "a")
				if err != nil {
					return nil, err
				}
				b, err := position(c, "b")
				d := geometry.Between(a, b).Start
				if d < 0 {
					d += 360
				}
				return d, err
			},
		},
		{
			Name: "destination", Doc: "The point at a distance and azimuth, along the geodesic.",
			Params:  []module.Param{geoPoint("from"), {Name: "bearing", Type: "number", Doc: "degrees clockwise from north"}, {Name: "metres", Type: "number", Doc: "how far"}},
			Returns: "a Point",
			Example: `local geo = require("geo")
assert(math.abs(geo.distance({ 4, 52 }, geo.destination({ 4, 52 }, 45, 1000)) - 1000) < 0.01)`,
			Call: func(c *module.Call) (any, error) {
				from, err := position(c, "from")
				if err != nil {
					return nil, err
				}
				return geometry.GeoJSON(geometry.From(from, c.Number("bearing"), c.Number("metres"))), nil
			},
		},
		{
			Name: "contains", Doc: "Reports whether a point lies inside or on the border of polygons, outside their holes. Edges are straight in longitude and latitude.",
			Params: []module.Param{{Name: "area", Type: "any", Doc: "a Polygon or MultiPolygon, as such or in a Feature, collection or resource"}, geoPoint("point")}, Returns: "true or false",
			Example: `local geo = require("geo")
local field = geo.polygon({ { 4, 52 }, { 5, 52 }, { 5, 53 }, { 4, 53 } })
assert(geo.contains(field, { 4.5, 52.5 }) and not geo.contains(field, { 6, 52 }))`,
			Call: func(c *module.Call) (any, error) {
				area, err := shape(c, "area")
				if err != nil {
					return nil, err
				}
				p, err := position(c, "point")
				if err != nil {
					return nil, err
				}
				inside, areas := geometry.Contains(area, p)
				if !areas {
					return nil, fault.Of(&fault.ParameterError{}, "argument area must hold a Polygon or MultiPolygon, got a %s", area.GeoJSONType())
				}
				return inside, nil
			},
		},
		{
			Name: "centroid", Doc: "The centroid: of the area of polygons, the length of lines, or points. It may lie outside the shape.",
			Params: []module.Param{geoShape}, Returns: "a Point",
			Example: `local p = require("geo").centroid({ type = "MultiPoint", coordinates = { { 4, 52 }, { 6, 52 } } })
assert(math.abs(p.coordinates[1] - 5) < 1e-6)`,
			Call: onPlane(func(g orb.Geometry) (orb.Geometry, error) { p, _ := planar.CentroidArea(g); return p, nil }),
		},
		{
			Name: "hull", Doc: "The convex hull.", Params: []module.Param{geoShape}, Returns: "a Polygon",
			Example: `local geo = require("geo")
local hull = geo.hull({ type = "MultiPoint", coordinates = { { 4, 52 }, { 5, 52 }, { 4.4, 52.1 }, { 4, 53 } } })
assert(hull.type == "Polygon" and #hull.coordinates[1] == 4)`,
			Call: onPlane(geometry.Hull),
		},
		{
			Name: "simplify", Doc: "Removes positions closer to the line than the tolerance (Douglas-Peucker). Rings keep at least a triangle.",
			Params: []module.Param{geoShape, {Name: "tolerance", Type: "number", Doc: "how far the line may move, in the unit"}, {Name: "options", Fields: []module.Param{
				{Name: "unit", Type: "string", Doc: "of the tolerance", Default: "metres", Choices: []string{"metres", "degrees"}}}}},
			Returns: "a geometry",
			Example: `local line = { type = "LineString", coordinates = { { 4, 52 }, { 4.5, 52.000001 }, { 5, 52 } } }
assert(#require("geo").simplify(line, 1).coordinates == 2)`,
			Call: simplified,
		},
	}, wktFuncs...)...),
}
