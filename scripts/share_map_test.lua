local test, sdk, fs, fixture = require("test"), require("sdk"), require("fs"), require("lib.fixture")

local dir, project
test.before(function()
  dir, project = test.temp_dir(), fixture.project("North <quarry>")
end)

local function raster(name)
  local file = fixture.file(dir, "ortho.tif", "II*\0 a raster file begins like this")
  return fixture.uploaded(sdk.datasets.create_raster_dataset, { name = name, project = project }, "raster", file)
end

test.case("writes a page with a link for each raster", function()
  raster("Orthophoto <May>")
  raster("Terrain</script>")
  local run = test.run("share_map.lua", project.id, dir .. "/map.html", "--days", 30)
  test.equal(run.code, 0, run.errors)
  local page = fs.read(dir .. "/map.html")
  test.contains(page, "North &lt;quarry&gt;")
  test.contains(page, "Orthophoto &lt;May&gt;")
  test.contains(page, "{z}/{x}/{y}")
  test.equal(select(2, page:gsub("</script>", "")), 2, "a name ends no script")
  test.equal(#sdk.share_tokens.search({ limit = 10 }), 2)
end)

test.case("says when there is no raster", function()
  local run = test.run("share_map.lua", project.id, dir .. "/map.html")
  test.equal(run.code, 0)
  test.contains(run.output, "has no such raster")
  test.truthy(not fs.exists(dir .. "/map.html"))
end)

test.case("wants a day at least", function() test.equal(test.run("share_map.lua", project.id, "--days", 0).code, 1) end)
