local test, sdk, fixture = require("test"), require("sdk"), require("testing.fixture")

local quick, project = '{"duration":0}', nil
test.before(function()
  project = fixture.project("Surveys")
  for _, name in ipairs({ "north 2026-05-30", "south 2026-05-31" }) do fixture.mission(project, name) end
end)

local function products()
  return #sdk.products.search({ filter = { project = { ["$eq"] = project.id } }, limit = 50 })
end

test.case("orders for every mission, once", function()
  local first = test.run("order_many.lua", "Surveys", "--analytic", "rehearsal", "--parameters", quick)
  test.equal(first.code, 0, first.errors)
  test.contains(first.output, "north 2026-05-30")
  test.contains(first.output, "available")
  test.equal(products(), 2)
  local second = test.run("order_many.lua", "Surveys", "--analytic", "rehearsal")
  test.equal(second.code, 0, second.errors)
  test.equal(products(), 2)
end)

test.case("orders only for missions that match", function()
  local run = test.run("order_many.lua", "Surveys", "--match", "south",
    "--analytic", "rehearsal", "--parameters", quick)
  test.equal(run.code, 0, run.errors)
  test.equal(products(), 1)
end)

test.case("tells which missions failed, and orders them anew", function()
  local failing = { "--analytic", "rehearsal", "--parameters", '{"duration":0,"outcome":"failed"}' }
  local run = test.run("order_many.lua", "Surveys", unpack(failing))
  test.equal(run.code, 3, run.errors)
  test.contains(run.output, "failed")
  test.run("order_many.lua", "Surveys", unpack(failing))
  test.equal(products(), 4)
end)

test.case("knows no other project", function()
  local run = test.run("order_many.lua", "Survey")
  test.equal(run.code, 2)
  test.contains(run.errors, "there is no project Survey")
end)
