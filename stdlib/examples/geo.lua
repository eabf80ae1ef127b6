-- geo.point
assert(require("geo").point(4.5, 52).coordinates[2] == 52)

-- geo.line
assert(require("geo").line({ { 4, 52 }, { 5, 52 } }).type == "LineString")

-- geo.polygon
assert(#require("geo").polygon({ { 4, 52 }, { 5, 52 }, { 5, 53 } }).coordinates[1] == 4)

-- geo.multi_point
assert(#require("geo").multi_point({ { 4, 52 }, { 5, 52 } }).coordinates == 2)

-- geo.multi_line
assert(require("geo").multi_line({ { { 4, 52 }, { 5, 52 } } }).type == "MultiLineString")

-- geo.multi_polygon
assert(require("geo").multi_polygon({ { { 4, 52 }, { 5, 52 }, { 5, 53 } } }).type == "MultiPolygon")

-- geo.collection
local geo = require("geo")
assert(#geo.collection({ geo.point(4, 52) }).geometries == 1)

-- geo.feature
local geo = require("geo")
assert(geo.feature(geo.point(4, 52), { name = "gate" }).properties.name == "gate")

-- geo.features
local geo = require("geo")
assert(geo.features({ geo.feature(geo.point(4, 52)) }).type == "FeatureCollection")

-- geo.check
local _, err = try(require("geo").check, { type = "Point", coordinates = { 4, 91 } })
assert(err.name == "ValueError" and err.message:find("coordinates%[2%]"))

-- geo.bbox
local box = require("geo").bbox({ type = "LineString", coordinates = { { 4, 52 }, { 5, 51 } } })
assert(box[1] == 4 and box[2] == 51 and box[3] == 5 and box[4] == 52)

-- geo.bbox_pad
assert(require("geo").bbox_pad({ 4, 52, 4, 52 }, 100)[1] < 4)

-- geo.bbox_intersects
assert(require("geo").bbox_intersects({ 4, 51, 5, 52 }, { 4.5, 51.5, 6, 53 }))

-- geo.area
local geo = require("geo")
local area = geo.area(geo.polygon({ { 4, 52 }, { 4.01, 52 }, { 4.01, 52.01 }, { 4, 52.01 } }))
assert(area > 7.6e5 and area < 7.7e5)

-- geo.length
assert(math.abs(require("geo").length({ type = "LineString", coordinates = { { 4, 52 }, { 4, 53 } } }) - 111276.8) < 0.1)

-- geo.distance
assert(math.abs(require("geo").distance({ 4, 52 }, { 4, 53 }) - 111276.8) < 0.1)

-- geo.bearing
assert(require("geo").bearing({ 4, 0 }, { 5, 0 }) == 90)

-- geo.destination
local geo = require("geo")
assert(math.abs(geo.distance({ 4, 52 }, geo.destination({ 4, 52 }, 45, 1000)) - 1000) < 0.01)

-- geo.contains
local geo = require("geo")
local field = geo.polygon({ { 4, 52 }, { 5, 52 }, { 5, 53 }, { 4, 53 } })
assert(geo.contains(field, { 4.5, 52.5 }) and not geo.contains(field, { 6, 52 }))

-- geo.centroid
local p = require("geo").centroid({ type = "MultiPoint", coordinates = { { 4, 52 }, { 6, 52 } } })
assert(math.abs(p.coordinates[1] - 5) < 1e-6)

-- geo.hull
local geo = require("geo")
local hull = geo.hull({ type = "MultiPoint", coordinates = { { 4, 52 }, { 5, 52 }, { 4.4, 52.1 }, { 4, 53 } } })
assert(hull.type == "Polygon" and #hull.coordinates[1] == 4)

-- geo.simplify
local line = { type = "LineString", coordinates = { { 4, 52 }, { 4.5, 52.000001 }, { 5, 52 } } }
assert(#require("geo").simplify(line, 1).coordinates == 2)

-- geo.to_wkt
local geo = require("geo")
assert(geo.to_wkt({ 4.5, 52 }) == "POINT(4.5 52)")
assert(geo.to_wkt(geo.point(4.5, 52, 10)) == "POINT Z (4.5 52 10)")

-- geo.from_wkt
local geo = require("geo")
assert(geo.from_wkt("LINESTRING(4 52,5 52)").coordinates[2][1] == 5)
assert(geo.from_wkt("POINT Z (4 52 10)").coordinates[3] == 10)
assert(geo.from_wkt("LINESTRING M (4 52 0,5 52 250)").measures[2] == 250)
assert(#geo.from_wkt("MULTIPOINT(1 2, 3 4)").coordinates == 2)

-- geo.geopackage
local geo = require("geo")
local out = geo.geopackage("trees.gpkg", {
  { name = "trees", geometry = "Point", columns = { { "kind", "string" }, { "height", "number" } } },
})
out:add("trees", { geometry = geo.point(4.5, 52), kind = "oak", height = 12.5 })
out:close()

-- geopackage:add
local geo = require("geo")
local out = geo.geopackage("notes.gpkg", { { name = "notes", columns = { { "text", "string" } } } })
out:add("notes", { text = "the gate is open" })
out:close()

-- geopackage:close
local out = require("geo").geopackage("empty.gpkg", { { name = "empty", columns = {} } })
out:close()

-- geopackage:discard
local out = require("geo").geopackage("none.gpkg", {})
out:discard()
assert(not require("fs").exists("none.gpkg"))
