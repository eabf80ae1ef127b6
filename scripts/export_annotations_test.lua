local test, sdk, fs, fixture = require("test"), require("sdk"), require("fs"), require("testing.fixture")
local json, csv = require("json"), require("csv")

local function read(file)
  local rows = {}
  for row in csv.read(file) do rows[#rows + 1] = row end
  return rows
end

test.case("writes GeoJSON and CSV", function()
  local project, out = fixture.project("Surveys"), test.temp_dir() .. "/drawn"
  sdk.annotations.create({ project = project, name = "Loose rock",
    geometry = { type = "Point", coordinates = { 5.72, 45.19 } } })
  sdk.annotations.create({ project = project, name = 'Crack, "deep"', description = "to be watched",
    stroke = { 255, 0, 16 }, stroke_width = 3,
    geometry = { type = "LineString", coordinates = { { 5.72, 45.19 }, { 5.74, 45.19 } } } })
  local run = test.run("export_annotations.lua", "Surveys", out)
  test.equal(run.code, 0, run.errors)
  test.contains(run.output, "2 annotations")

  local drawn = json.decode(fs.read(out .. ".geojson"))
  test.equal(drawn.type, "FeatureCollection")
  test.equal(#drawn.features, 2)
  local rows = read(out .. ".csv")
  test.equal(#rows, 2)
  local crack = rows[1].name:find("Crack") and rows[1] or rows[2]
  test.equal(crack.name, 'Crack, "deep"')
  test.equal(crack.stroke, "#ff0010")
  test.near(tonumber(crack.longitude), 5.73, 1e-6)
  test.contains(crack.wkt, "LINESTRING")
end)

test.case("a project without annotations gives empty files", function()
  fixture.project("Empty")
  local out = test.temp_dir() .. "/drawn"
  test.equal(test.run("export_annotations.lua", "Empty", out).code, 0)
  test.equal(#json.decode(fs.read(out .. ".geojson")).features, 0)
  test.equal(#read(out .. ".csv"), 0)
end)
