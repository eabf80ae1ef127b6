local test, sdk, fs, fixture = require("test"), require("sdk"), require("fs"), require("testing.fixture")

local header = "field,crop,trial,season,mission,start_date,end_date,description\n"
local rows = [[
Long acre,wheat,Density,2026-01-01,Emergence,2026-04-01,2026-04-10,count plants
Long acre,wheat,Density,2026-01-01,Flowering,2026-05-20,2026-06-05,
Mill field,barley,Nitrogen,,Emergence,2026-04-02,2026-04-12,
]]

local dir
test.before(function()
  dir = test.temp_dir()
  fixture.project("Trial farm")
end)

local function import(text, ...)
  fs.write(dir .. "/season.csv", text)
  return test.run("import_season.lua", "Trial farm", dir .. "/season.csv", ...)
end

test.case("makes what is missing, once", function()
  local first = import(header .. rows)
  test.equal(first.code, 0, first.errors)
  test.contains(first.output, "created 2 fields, 2 crops, 2 trials, 3 missions")
  local second = import(header .. rows)
  test.contains(second.output, "created 0 fields, 0 crops, 0 trials, 0 missions; 0 missions changed")
  test.equal(#sdk.season_planner_missions.search({ limit = 50 }), 3)
end)

test.case("changes what has changed", function()
  import(header .. rows)
  test.contains(import(header .. rows:gsub("2026%-06%-05", "2026-06-09")).output, "1 missions changed")
  local planned = sdk.season_planner_missions.search({ filter = { name = { ["$eq"] = "Flowering" } }, limit = 1 })[1]
  test.equal(planned.end_date:sub(1, 10), "2026-06-09")
end)

test.each("tells mistakes with their lines, and sends nothing", {
  { name = "no crop", line = "Long acre,,Density,,Emergence,2026-04-01,2026-04-10,", want = "crop is missing" },
  { name = "no date", line = "Long acre,rye,Density,,Late,1.4.2026,2026-04-10,",
    want = "start_date 1.4.2026 is not a date" },
  { name = "backwards", line = "Long acre,rye,Density,,Late,2026-04-11,2026-04-10,",
    want = "it ends before it starts" },
  { name = "twice", line = "Long acre,wheat,Density,,Emergence,2026-04-01,2026-04-10,", want = "is in line 2 already" },
}, function(row)
  local run = import(header .. rows .. row.line .. "\n")
  test.equal(run.code, 1)
  test.contains(run.errors, row.want)
  test.contains(run.errors, "season.csv:5")
  test.contains(run.errors, "nothing was sent")
  test.equal(#sdk.fields.search({ limit = 1 }), 0)
end)

test.case("checks only", function()
  test.contains(import(header .. rows, "--check").output, "3 rows, no mistake")
  test.equal(#sdk.fields.search({ limit = 1 }), 0)
end)
