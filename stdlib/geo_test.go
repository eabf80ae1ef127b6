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
	"wrong shapes are refused with the place": `
		local function refused(name, message, f, ...)
			local _, e = try(f, ...)
			assert(e and e.name == name and tostring(e):find(message, 1, true), tostring(e))
		end
		refused("ValueError", "coordinates[2] is 91", geo.point, 4, 91)
		refused("ValueError", "a line needs two", geo.line, { { 4, 52 } })
		refused("ValueError", "is no GeoJSON", geo.area, { type = "Polgon", coordinates = {} })
		refused("ValueError", "has no geometry", geo.bbox, geo.features({}))
		refused("ParameterError", "must hold a Polygon", geo.contains, geo.point(4, 52), { 4, 52 })
		refused("ParameterError", "must be a Point", geo.distance, geo.line({ { 4, 52 }, { 5, 52 } }), { 4, 52 })
		refused("BoundingBoxError", "west must not lie east", geo.bbox_pad, { 5, 51, 4, 52 }, 1)
		refused("ParameterError", "tolerance must be positive", geo.simplify, geo.point(4, 52), 0)
		refused("ParameterError", "unknown option unti (did you mean unit?)", geo.simplify, geo.point(4, 52), 1, { unti = "metres" })
		refused("ValueError", "lie on one line", geo.hull, geo.line({ { 4, 52 }, { 5, 53 } }))
		refused("ValueError", "no WKT", geo.from_wkt, "POLYGON((4 52")`,
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
