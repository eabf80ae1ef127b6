local test, sdk, fs, fixture = require("test"), require("sdk"), require("fs"), require("lib.fixture")
local ingest = require("ingest")

local dir
test.before(function()
  local project = fixture.project("Surveys")
  dir = test.temp_dir()
  for _, name in ipairs({ "north", "../south" }) do
    local mission = fixture.mission(project, name)
    ingest.run({ source = fixture.flight, project = project, mission = mission, wait = true, progress = false })
    local product = sdk.analytics.order({ name = "flight_report", version = "1.x", project = project, mission = mission, inputs = { mission = mission.id } })
    for _ in sdk.products.follow_logs(product) do end
    test.equal(sdk.products.describe(product).status, "available")
  end
end)

test.case("fetches every deliverable once, and repairs a damaged one", function()
  local first = test.run("download_project.lua", "Surveys", dir)
  test.equal(first.code, 0, first.errors)
  test.contains(first.output, "0 there already, 0 failed")
  local files = {}
  for file in fs.walk(dir, { type = "file" }) do files[#files + 1] = file end
  test.truthy(#files >= 2, "two missions have their files")
  for _, file in ipairs(files) do test.truthy(not file:find("..", 1, true), file) end

  local second = test.run("download_project.lua", "Surveys", dir)
  test.contains(second.output, "0 of " .. #files .. " files fetched, " .. #files .. " there already")

  local damaged = files[1]
  if not fs.exists(damaged) then damaged = dir .. "/" .. damaged end
  local whole = fs.read(damaged)
  fs.write(damaged, "x")
  test.contains(test.run("download_project.lua", "Surveys", dir).output, "1 of " .. #files .. " files fetched")
  test.equal(fs.read(damaged), whole)
end)

test.case("fetches of one mission", function()
  test.equal(test.run("download_project.lua", "Surveys", dir, "--match", "north").code, 0)
  test.equal(fs.list(dir), { "north" })
end)

test.case("says when there is nothing", function()
  local run = test.run("download_project.lua", "Surveys", dir, "--analytic", "none")
  test.equal(run.code, 0)
  test.contains(run.output, "no such deliverable")
end)
