-- run.once
local run = require("run")
local sent = 0
for _ = 1, 2 do
  run.once("tell the pilots", function() sent = sent + 1 end)
end
assert(sent == 1)

-- run.fixed
local run, time = require("run"), require("time")
local day = run.fixed("day", function() return time.format(time.now(), "date") end)
assert(day == run.fixed("day", function() return "another" end))

-- run.scope
local run = require("run")
local name = run.scope("north", function() return "a project of the north" end)
assert(name == "a project of the north")

-- run.again
local run = require("run")
assert(run.again(function() return 1 end) == 1)
