local test, sdk, fs, fixture = require("test"), require("sdk"), require("fs"), require("testing.fixture")

local dir, project
test.before(function()
  dir, project = test.temp_dir(), fixture.project("North <quarry>")
end)

local function raster(name, file)
  local raster = { name = name, project = project }
  return fixture.uploaded(sdk.datasets.create_raster_dataset, raster, "raster", file or fixture.ortho)
end

test.case("writes a page with a link for each raster", function()
  raster("Orthophoto <May>")
  raster("Terrain</script>")
  raster("No raster", fixture.file(dir, "none.tif", "II*\0 a raster file begins like this"))
  local run = test.run("share_map.lua", project.id, dir .. "/map.html", "--days", 30)
  test.equal(run.code, 3, run.errors)
  test.contains(run.output, "not shared: No raster: ")
  test.contains(run.output, "has no tiles: the file is cut short")
  test.contains(run.errors, "keep transect platform serve running") -- the test serves nothing
  local page = fs.read(dir .. "/map.html")
  test.contains(page, "North &lt;quarry&gt;")
  test.contains(page, "Orthophoto &lt;May&gt;")
  test.contains(page, "{z}/{x}/{y}")
  test.contains(page, '"box":[[50.7', "the map shows the rasters")
  test.equal(select(2, page:gsub("</script>", "")), 2, "a name ends no script")
  test.equal(#sdk.share_tokens.search({ limit = 10 }), 2)
end)

test.case("says when there is no raster", function()
  local run = test.run("share_map.lua", project.id, dir .. "/map.html")
  test.equal(run.code, 0)
  test.contains(run.output, "has no such raster")
  test.truthy(not fs.exists(dir .. "/map.html"))
end)

test.case("wants a day at least", function() test.equal(test.run("share_map.lua", project.id, "--days", 0).code, 2) end)
