-- Tests of main.lua. Run them with transect test: each has a fresh local
-- platform of its own.
local test, sdk = require("test"), require("sdk")

-- output runs main.lua and gives what it prints.
local function output()
  local lines, original = {}, print
  _G.print = function(text) lines[#lines + 1] = text end
  local ok, err = pcall(dofile, "main.lua")
  _G.print = original
  if not ok then error(err, 0) end
  return table.concat(lines, "\n")
end

test.case("says when there is nothing", function() test.equal(output(), "there is no such project") end)

test.case("lists every project", function()
  for _, name in ipairs({ "North quarry", "South field" }) do
    sdk.projects.create(name, sdk.users.describe().company)
  end
  test.contains(output(), "North quarry")
  test.contains(output(), "South field")
end)
