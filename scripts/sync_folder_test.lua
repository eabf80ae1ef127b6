local test, sdk, fs, fixture = require("test"), require("sdk"), require("fs"), require("lib.fixture")

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
  test.contains(first.output, "2 uploaded, 0 already there, 0 bad")
  test.equal(names(), { "day 1/log.txt", "plan.txt" })
  test.contains(sync().output, "0 uploaded, 2 already there")
  fs.write(dir .. "/plan.txt", "three strips")
  test.contains(sync().output, "1 uploaded, 1 already there")
  test.equal(names(), { "day 1/log.txt", "plan.txt" })
end)

test.case("leaves files that may still be written", function()
  local run = test.run("sync_folder.lua", dir, "Surveys", "--settle", 3600)
  test.equal(run.code, 0, run.errors)
  test.contains(run.output, "2 still being written")
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

test.case("names a folder that is not there", function()
  local run = test.run("sync_folder.lua", dir .. "/nowhere", "Surveys")
  test.different(run.code, 0)
  test.contains(run.errors, "nowhere")
end)
