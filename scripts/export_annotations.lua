-- Export the annotations of a project as GeoJSON and as CSV:
--
--   transect run --local scripts/export_annotations.lua "Surveys" annotations
--
-- writes annotations.geojson and annotations.csv. Annotations on models and
-- images are not drawn in degrees: GeoJSON has only those on the map, CSV all.
local sdk, script, query, json = require("sdk"), require("script"), require("query"), require("json")
local fs, csv, geo, find = require("fs"), require("csv"), require("geo"), require("lib.find")

local args = script.args({ "project", "out", _doc = "Export the annotations of a project as GeoJSON and as CSV.",
  project = { "string", doc = "project, by name or id" },
  out = { "string", default = "annotations", doc = "path of the files without .geojson and .csv" },
  mission = { "string", optional = true, doc = "only those of this mission, by name or id" } })

local project = find.project(args.project)
local filter = query.eq("project", project)
if args.mission then filter = query.all(filter, query.eq("mission", find.mission(project, args.mission))) end

local function hex(colour) return colour and ("#%02x%02x%02x"):format(colour[1], colour[2], colour[3]) or nil end

local features, rows = {}, {}
for a in sdk.annotations.search_generator({ filter = filter }) do
  local row = { id = a.id, name = a.name, description = a.description, type = a.type or "2d", created = a.creation_date,
    mission = a.mission, target = a.target, attachments = a.attachments and #a.attachments or 0, stroke = hex(a.stroke),
    ["stroke-width"] = a.stroke_width, fill = hex(a.fill), ["fill-opacity"] = a.fill_opacity }
  local on_map = row.type == "2d" and a.geometry and select(2, try(geo.check, a.geometry)) == nil
  if on_map then
    features[#features + 1] = geo.feature(a.geometry, row)
    local middle = geo.centroid(a.geometry)
    local at = middle.coordinates or middle
    row.longitude, row.latitude = at[1], at[2]
    row.wkt = select(1, try(geo.to_wkt, a.geometry))
  end
  rows[#rows + 1] = row
end
fs.write(args.out .. ".geojson", json.encode(geo.features(features)) .. "\n")
csv.write(args.out .. ".csv", rows, { header = { "id", "name", "description", "type", "created", "mission", "target",
  "attachments", "stroke", "stroke-width", "fill", "fill-opacity", "longitude", "latitude", "wkt" } })
print(("%d annotations in %s.csv, %d of them on the map in %s.geojson"):format(#rows, args.out, #features, args.out))
