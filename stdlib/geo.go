package stdlib

import (
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"transect/client/fault"
	"transect/client/geojson"
	"transect/runtime/module"
	"transect/stdlib/geometry"
)

var (
	geoShape = module.Param{Name: "geometry", Type: "any",
		Doc: "a geometry, Feature or FeatureCollection, a resource with a geometry, or a position"}
	geoPoint = func(name string) module.Param {
		return module.Param{Name: name, Type: "any", Doc: "a Point, or { longitude, latitude }"}
	}
)

var geoModule = &module.Module{
	Name: "geo",
	Doc: "Makes, checks and measures GeoJSON: positions are { longitude, latitude } in degrees (WGS 84), results in " +
		"metres. Lengths and areas are geodesic, on the WGS 84 ellipsoid " +
		"(geodesics, Karney 2013), good to less than a millimetre; heights are kept by what makes geometries and ignored " +
		"by what measures them. Nothing is cut at the antimeridian.",
	Types: []*module.Type{geoPackageType},
	Lazy:  geoFuncs,
}

func geoFuncs() []module.Func {
	return slices.Concat(geoMakers, []module.Func{geoPackageFunc}, []module.Func{
		{
			Name: "check", Doc: "Checks GeoJSON (RFC 7946); a ValueError names the wrong coordinate.",
			Params: []module.Param{{Name: "value", Type: "table", Doc: "a geometry, Feature or FeatureCollection"},
				{Name: "options", Fields: []module.Param{
					{Name: "any_number", Type: "boolean", Doc: "accept any number as coordinate, for pixels or metres",
						Default: false}}}},
			Returns: "the value",
			Call: func(c *module.Call) (any, error) {
				return c.Value("value"), checkGeoJSON(c.Go("value"), geojson.Options{AnyNumber: c.Bool("any_number")})
			},
		},
		{
			Name: "bbox", Doc: "The bounding box of a shape.", Params: []module.Param{geoShape},
			Returns: "{ west, south, east, north }",
			Call:    func(c *module.Call) (any, error) { return boxList(shape(c, "geometry").Bound()), nil },
		},
		{
			Name: "bbox_pad",
			Doc: "Extends a box by a distance on each side, at most to the poles; one that would circle the globe spans -180 " +
				"to 180.",
			Params: []module.Param{{Name: "bbox", Type: "any", Doc: "{ west, south, east, north }, or a shape"},
				{Name: "metres", Type: "number", Doc: "how many"}},
			Returns: "{ west, south, east, north }",
			Call: func(c *module.Call) (any, error) {
				return boxList(geometry.Pad(box(c, "bbox"), c.Number("metres"))), nil
			},
		},
		{
			Name: "bbox_intersects", Doc: "Reports whether two boxes share a point: a quick test before exact ones.",
			Params: []module.Param{{Name: "a", Type: "any", Doc: "{ west, south, east, north }, or a shape"},
				{Name: "b", Type: "any", Doc: "the same"}},
			Returns: "true or false",
			Call:    func(c *module.Call) (any, error) { return box(c, "a").Intersects(box(c, "b")), nil },
		},
		{
			Name: "area",
			Doc: "The area of polygons, holes left out, on the ellipsoid. Edges are shortest lines; which way round a ring " +
				"goes does not matter.",
			Params: []module.Param{geoShape}, Returns: "square metres; 0 for points and lines",
			Call: func(c *module.Call) (any, error) { return geometry.Area(shape(c, "geometry")), nil },
		},
		{
			Name: "length", Doc: "The length of lines, and of the edges of polygons, on the ellipsoid.",
			Params: []module.Param{geoShape}, Returns: "metres",
			Call: func(c *module.Call) (any, error) { return geometry.Length(shape(c, "geometry")), nil },
		},
		{
			Name: "distance", Doc: "The geodesic distance between two points.", Params: []module.Param{geoPoint("a"),
				geoPoint("b")}, Returns: "metres",
			Call: func(c *module.Call) (any, error) { return geometry.Between(point(c, "a"), point(c, "b")).Metres, nil },
		},
		{
			Name: "bearing", Doc: "The azimuth at a of the geodesic to b.", Params: []module.Param{geoPoint("a"), geoPoint("b")},
			Returns: "degrees clockwise from north, 0 to 360",
			Call: func(c *module.Call) (any, error) {
				azimuth := geometry.Between(point(c, "a"), point(c, "b")).Start
				if azimuth < 0 {
					azimuth += 360
				}
				return azimuth, nil
			},
		},
		{
			Name: "destination", Doc: "The point at a distance and azimuth, along the geodesic.",
			Params: []module.Param{geoPoint("from"), {Name: "bearing", Type: "number", Doc: "degrees clockwise from north"},
				{Name: "metres", Type: "number", Doc: "how far"}},
			Returns: "a Point",
			Call: func(c *module.Call) (any, error) {
				return geojson.Object(geometry.From(point(c, "from"), c.Number("bearing"), c.Number("metres"))), nil
			},
		},
		{
			Name: "contains",
			Doc: "Reports whether a point is inside or on the border of polygons, outside their holes. Edges are straight " +
				"in longitude and latitude.",
			Params: []module.Param{{Name: "area", Type: "any",
				Doc: "a Polygon or MultiPolygon, as such or in a Feature, collection or resource"}, geoPoint("point")},
			Returns: "true or false",
			Call: func(c *module.Call) (any, error) {
				area := shape(c, "area")
				inside, areas := geometry.Contains(area, point(c, "point"))
				if !areas {
					return nil, fault.Of(&fault.ParameterError{}, "argument area must hold a Polygon or MultiPolygon, got a %s",
						area.GeoJSONType())
				}
				return inside, nil
			},
		},
		{
			Name:   "centroid",
			Doc:    "The centroid: of the area of polygons, the length of lines, or points. It may be outside the shape.",
			Params: []module.Param{geoShape}, Returns: "a Point",
			Call: func(c *module.Call) (any, error) {
				return onPlane(c, func(g orb.Geometry) (orb.Geometry, error) { p, _ := planar.CentroidArea(g); return p, nil })
			},
		},
		{
			Name: "hull", Doc: "The convex hull.", Params: []module.Param{geoShape}, Returns: "a Polygon",
			Call: func(c *module.Call) (any, error) { return onPlane(c, geometry.Hull) },
		},
		{
			Name: "simplify",
			Doc:  "Removes positions closer to the line than the tolerance (Douglas-Peucker). Rings keep at least a triangle.",
			Params: []module.Param{geoShape, {Name: "tolerance", Type: "number", Doc: "how far the line may move, in the unit"},
				{Name: "options", Fields: []module.Param{
					{Name: "unit", Type: "string", Doc: "of the tolerance", Default: "metres",
						Choices: []string{"metres", "degrees"}}}}},
			Returns: "a geometry",
			Call:    simplified,
		},
	}, wktFuncs)
}
