-- Tests of main.lua. Run them with transect test: each has a fresh local
-- platform of its own.
local test, sdk = require("test"), require("sdk")

local function output() return test.run("main.lua").output end

test.case("says when there is nothing", function() test.contains(output(), "there is no such project") end)

test.case("lists every project", function()
  for _, name in ipairs({ "North quarry", "South field" }) do
    sdk.projects.create(name, sdk.users.describe().company)
  end
  test.contains(output(), "North quarry")
  test.contains(output(), "South field")
end)
