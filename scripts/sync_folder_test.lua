local test, sdk, fs, fixture = require("test"), require("sdk"), require("fs"), require("testing.fixture")

local dir
test.before(function()
  fixture.project("Surveys")
  dir = test.temp_dir()
  fixture.file(dir, "plan.txt", "two strips")
  fixture.file(dir, "day 1/log.txt", "take-off 10:30")
  fixture.file(dir, "day 1/copying.part", "half")
end)

local function sync(...) return test.run("sync_folder.lua", dir, "Surveys", "--settle", 0, ...) end
local function names()
  local list = {}
  for d in sdk.datasets.search_generator() do list[#list + 1] = d.name end
  table.sort(list)
  return list
end

test.case("brings up what is new, and what has changed", function()
  local first = sync()
  test.equal(first.code, 0, first.errors)
  test.contains(first.errors, "project Surveys:\n  2 uploaded, 1 left out; ")
  test.equal(names(), { "day 1/log.txt", "plan.txt" })
  test.contains(sync().errors, "  2 already there, 1 left out; nothing sent")
  fs.write(dir .. "/plan.txt", "three strips")
  test.contains(sync().errors, "  1 uploaded, 1 already there, 1 left out; ")
  test.equal(names(), { "day 1/log.txt", "plan.txt" })
end)

test.case("leaves files that may still be written", function()
  local run = test.run("sync_folder.lua", dir, "Surveys", "--settle", 3600)
  test.equal(run.code, 0, run.errors)
  test.contains(run.output, "2 files were changed within the last 3600 s: left for the next run")
  test.equal(run.errors:find("nothing to ingest"), nil)
  test.equal(names(), {})
end)

test.case("a dry run sends nothing", function()
  test.equal(sync("--dry-run").code, 0)
  test.equal(names(), {})
end)

test.case("writes a report", function()
  test.equal(sync("--report", dir .. "/out.csv").code, 0)
  test.contains(fs.read(dir .. "/out.csv"), "uploaded")
end)

test.case("a mistyped project is not made", function()
  local run = test.run("sync_folder.lua", dir, "Survesy")
  test.equal(run.code, 2)
  test.contains(run.errors, "there is no project Survesy")
end)

test.case("files that need attention end the run with 3, every time", function()
  fixture.file(dir, "area.shp", "\0\0\39\10" .. ("\0"):rep(23) .. "\50\232\3" .. ("\0"):rep(70))
  for _ = 1, 2 do
    local run = sync()
    test.equal(run.code, 3, run.errors)
    test.contains(run.errors, "incomplete: area.shp: the shapefile is not complete: area.dbf and area.shx missing")
  end
end)

test.case("names a folder that is not there", function()
  local run = test.run("sync_folder.lua", dir .. "/nowhere", "Surveys")
  test.different(run.code, 0)
  test.contains(run.errors, "nowhere")
end)

test.case("a folder without files is a failure, unless it may be empty", function()
  local empty = test.temp_dir()
  local run = test.run("sync_folder.lua", empty, "Surveys")
  test.equal(run.code, 3, run.errors)
  test.contains(run.errors, "no files found in " .. empty .. ": is the card mounted?")
  test.equal(test.run("sync_folder.lua", empty, "Surveys", "--allow-empty").code, 0)
end)
