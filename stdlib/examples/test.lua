-- test.case
local test = require("test")
test.case("numbers add up", function() test.equal(1 + 1, 2) end)

-- test.each
local test = require("test")
test.each("squares", { { name = "two", n = 2, want = 4 }, { n = 3, want = 9 } }, function(row)
  test.equal(row.n * row.n, row.want)
end)

-- test.before
require("test").before(function() end)

-- test.after
require("test").after(function() end)

-- test.temp_dir
local dir = require("test").temp_dir()
assert(require("fs").exists(dir))

-- test.run
local test = require("test")
test.case("asks for a folder", function()
  local run = test.run("survey.lua")
  test.equal(run.code, 2)
  test.contains(run.errors, "folder")
end)

-- test.skip
if false then require("test").skip("needs the network") end

-- test.fail
assert(not pcall(require("test").fail, "no"))

-- test.equal
require("test").equal({ a = { 1, 2 } }, { a = { 1, 2 } })

-- test.different
require("test").different({ 1 }, { 2 })

-- test.truthy
require("test").truthy(#"x" == 1)

-- test.falsy
require("test").falsy(nil)

-- test.matches
require("test").matches("DJI_0001.JPG", "^DJI_%d+%.JPG$")

-- test.near
require("test").near(0.1 + 0.2, 0.3)

-- test.contains
require("test").contains({ "a", "b" }, "b")

-- test.raises
local err = require("test").raises(function() error("no such file", 0) end, "no such")
assert(err == "no such file")
