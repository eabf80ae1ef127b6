package stdlib_test

import (
	"testing"

	"transect/runtime/vm"
)

// geoCases run with geo, json and near (equal within a share of the value).
var geoCases = map[string]string{
	"a resource, a Feature and a collection are shapes": `
		local f = geo.feature(geo.point(4, 52), nil, "x")
		assert(geo.bbox(geo.features({ f, geo.feature(geo.point(5, 51)) }))[2] == 51)
		assert(f.id == "x" and geo.centroid(f).coordinates[1] == 4)`,
	"holes count": `
		local square = { { 0, 0 }, { 10, 0 }, { 10, 10 }, { 0, 10 } }
		local hole = { { 4, 4 }, { 6, 4 }, { 6, 6 }, { 4, 6 } }
		local ring = geo.polygon({ square, hole })
		assert(not geo.contains(ring, { 5, 5 }) and geo.contains(ring, { 1, 1 }) and geo.contains(ring, { 0, 5 }))
		assert(near(geo.area(ring) + geo.area(geo.polygon(hole)), geo.area(geo.polygon(square)), 1e-9))`,
	"the middle of an L lies outside of it, in the middle of its area": `
		local p = geo.centroid(geo.polygon({ { 0, 0 }, { 3e-3, 0 }, { 3e-3, 1e-3 }, { 1e-3, 1e-3 }, { 1e-3, 3e-3 }, { 0, 3e-3 } }))
		assert(near(p.coordinates[1], 1.1e-3, 1e-5) and near(p.coordinates[2], 1.1e-3, 1e-5), json.encode(p))`,
	"simplify keeps within its tolerance": `
		local line = {}
		for i = 0, 200 do line[#line + 1] = { 4 + i * 1e-4, 52 + math.sin(i) * 1e-6 } end -- 11 cm to and fro
		assert(#geo.simplify(geo.line(line), 0.5).coordinates == 2)
		assert(#geo.simplify(geo.line(line), 0.001).coordinates > 150)
		assert(#geo.simplify(geo.polygon({ { 4, 52 }, { 4.00001, 52 }, { 4, 52.00001 } }), 1000).coordinates[1] == 4)`,
	"the ellipsoid, by published figures": `
		-- GeographicLib: its test of lines, and its planimeter.
		assert(math.abs(geo.distance({ -73.8, 40.6 }, { 2.55, 49.01666667 }) - 5853226) < 0.5)
		assert(math.abs(geo.bearing({ -73.8, 40.6 }, { 2.55, 49.01666667 }) - 53.47022) < 1e-5)
		local p = geo.destination({ -73.77888889, 40.63972222 }, 53.5, 5850e3).coordinates
		assert(math.abs(p[1] - 2.56106) < 1e-5 and math.abs(p[2] - 49.01467) < 1e-5)
		local cap = { { 0, 89 }, { 90, 89 }, { 180, 89 }, { -90, 89 } }
		assert(math.abs(geo.area(geo.polygon(cap)) - 24952305678) < 1)
		assert(math.abs(geo.length(geo.polygon(cap)) - 631819.8745) < 1e-4)
		local square = geo.polygon({ { 1, 2 }, { 2, 1 }, { 3, 3 } })
		assert(math.abs(geo.area(square) - 18454562325.45) < 0.5)
		assert(math.abs(geo.area(geo.collection({ square, geo.point(4, 52) })) - 18454562325.45) < 0.5)
		local box = geo.bbox_pad({ 4, 52, 5, 53 }, 1000)
		assert(near(geo.distance({ box[1], 52 }, { 4, 52 }), 1000, 0.03) and near(geo.distance({ 4, box[4] }, { 4, 53 }), 1000, 1e-3))
		assert(geo.bbox_pad({ 4, 89.999, 5, 90 }, 1000)[1] == -180)`,
	"WKT of all kinds, there and back": `
		for _, text in ipairs({ "POINT EMPTY", "POINT Z (4 52 10)", "POINT ZM (4 52 10 3)", "MULTIPOINT((1 2),(3 4))", "POLYGON EMPTY",
			"LINESTRING M (1 2 3,4 5 6)", "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(1 2,3 4))", "MULTIPOLYGON(((0 0,1 0,1 1,0 0)),EMPTY)" }) do
			assert(geo.to_wkt(geo.from_wkt(text)) == text, geo.to_wkt(geo.from_wkt(text)))
		end
		assert(geo.to_wkt(geo.from_wkt("MULTIPOINT(1 2, 3 4)")) == "MULTIPOINT((1 2),(3 4))")
		assert(geo.to_wkt(geo.feature(geo.point(4, 52, 7)), { heights = false }) == "POINT(4 52)")
		assert(geo.to_wkt(geo.features({ geo.feature(geo.point(1, 2)), geo.feature(geo.line({ { 1, 2 }, { 3, 4 } })) })) == "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(1 2,3 4))")
		assert(geo.to_wkt(geo.from_wkt("LINESTRING ZM (1 2 3 4,5 6 7 8)"), { heights = false }) == "LINESTRING(1 2,5 6)")
		local _, e = try(geo.to_wkt, geo.collection({ geo.point(1, 2), geo.point(1, 2, 3) }))
		assert(e.name == "ValueError" and e.hint:find("heights = false"), tostring(e))
		local _, e = try(geo.from_wkt, "POLYGON((4 52,5 52,5 53))"); assert(tostring(e):find("ring"), tostring(e))
		local _, e = try(geo.from_wkt, "POINT(4 52"); assert(tostring(e):find("character 11 should be"), tostring(e))
		local _, e = try(geo.area, geo.from_wkt("POINT EMPTY")); assert(tostring(e):find("has no geometry"), tostring(e))`,
	"wrong shapes are refused with the place": `
		local function refused(name, message, f, ...)
			local _, e = try(f, ...)
			assert(e and e.name == name and tostring(e):find(message, 1, true), tostring(e))
		end
		refused("ValueError", "coordinates[2] is 91", geo.point, 4, 91)
		refused("ValueError", "a line needs two", geo.line, { { 4, 52 } })
		refused("ValueError", "is not GeoJSON", geo.area, { type = "Polgon", coordinates = {} })
		refused("ValueError", "has no geometry", geo.bbox, geo.features({}))
		refused("ParameterError", "must hold a Polygon", geo.contains, geo.point(4, 52), { 4, 52 })
		refused("ParameterError", "must be a Point", geo.distance, geo.line({ { 4, 52 }, { 5, 52 } }), { 4, 52 })
		refused("BoundingBoxError", "west must not be east", geo.bbox_pad, { 5, 51, 4, 52 }, 1)
		refused("ParameterError", "tolerance must be positive", geo.simplify, geo.point(4, 52), 0)
		refused("ParameterError", "unknown option unti (did you mean unit?)", geo.simplify, geo.point(4, 52), 1, { unti = "metres" })
		refused("ValueError", "are collinear", geo.hull, geo.line({ { 4, 52 }, { 5, 53 } }))
		refused("ValueError", "not WKT", geo.from_wkt, "POLYGON((4 52")`,
}

func TestGeo(t *testing.T) {
	for name, code := range geoCases {
		t.Run(name, func(t *testing.T) {
			if _, _, err := run(t, vm.Options{}, `local geo, json = require("geo"), require("json")
				local function near(a, b, share) return math.abs(a - b) <= math.abs(b) * share end; `+code); err != nil {
				t.Error(err)
			}
		})
	}
}
