-- Write a project as STAC, GeoJSON, GeoPackage, CSV, or a project of QGIS
local script, fs, json = require("script"), require("fs"), require("json")
local find, show, export = require("lib.find"), require("lib.show"), require("lib.export")

local args = script.args({
  "target",
  "dir",
  _doc = [[
Write what the platform knows of a project, or of one mission, to a new or empty folder. stac is a static catalogue
(STAC 1.1) with a collection for each mission and an item for each dataset. geojson and csv are a file for each of
photos, footprints, flight_lines, datasets, annotations and features, in csv with shapes as WKT; gpkg is one GeoPackage
with these layers; qgis is that and a project file, project.qgs. transect import takes a catalogue with --files.]],
  _example = [[
transect export 'North quarry' catalogue --format stac --files
transect export 'North quarry/May survey' may --format gpkg
transect export 'North quarry' quarry --format qgis --share-days 30]],
  target = { "string", value = "PROJECT[/MISSION]", complete = "names", doc = "project or mission, by name or id" },
  dir = { "string", value = "DIR", complete = "folders", doc = "folder for the files, created when missing" },
  format = {
    "string",
    value = "FORMAT",
    choices = { "stac", "geojson", "gpkg", "csv", "qgis" },
    doc = "what to write",
  },
  files = { "boolean", doc = "stac: fetch the files of the items, too" },
  links = {
    "string",
    default = "relative",
    choices = { "relative", "absolute" },
    doc = "stac: how items name their files, which are in files/ beside them",
  },
  share_days = {
    "integer",
    optional = true,
    value = "N",
    doc = "qgis: show the tiles of rasters, by links that anyone can open for N days",
  },
  json = { "boolean", doc = "print the numbers as JSON" },
})

if args.share_days and args.share_days < 1 then
  script.usage_error("--share-days " .. args.share_days .. " is no time", "give the days for which the links are open")
elseif args.share_days and args.format ~= "qgis" then
  script.usage_error("--share-days goes with --format qgis")
elseif args.files and args.format ~= "stac" then
  script.usage_error("--files goes with --format stac", "transect get fetches the files alone")
end
local project, mission = find.target(args.target)
if fs.is_file(args.dir) then
  script.usage_error(args.dir .. " is a file", "name a folder")
elseif fs.exists(args.dir) and #fs.list(args.dir) > 0 then
  script.usage_error(args.dir .. " is not empty: it has " .. fs.list(args.dir)[1], "name a new folder")
end
local counts = export.run(
  { project = project, mission = mission },
  args.dir,
  { format = args.format, files = args.files, links = args.links, share_days = args.share_days }
)
if args.json then
  print(json.encode(counts))
else
  local names = {}
  for name, n in pairs(counts) do
    if n > 0 then
      names[#names + 1] = name == "failed" and n .. " failed" or show.count(n, (name:gsub("_", " "):gsub("s$", "")))
    end
  end
  table.sort(names)
  local what = #names > 0 and table.concat(names, ", ") or "nothing, the project is empty"
  show.note((script.rehearsal() and "would write to " or "wrote to ") .. args.dir .. ": " .. what)
end
script.fail_items(counts.failed or 0)
