-- state.get
local state = require("state")
assert(state.get("last run", "never") == "never")

-- state.set
local state = require("state")
state.set("survey", { mission = "m1", photos = 120 })
assert(state.get("survey").photos == 120)

-- state.delete
local state = require("state")
state.set("old", 1)
assert(state.delete("old") and not state.delete("old"))

-- state.keys
local state = require("state")
state.set("done/a", true)
state.set("done/b", true)
assert(#state.keys("done/") == 2)

-- state.each
local state = require("state")
state.set("n/1", 10)
state.set("n/2", 20)
local sum = 0
for key, n in state.each("n/") do sum = sum + n end
assert(sum == 30)

-- state.update
local state = require("state")
state.update("seen", function(list)
  list = list or {}
  list[#list + 1] = "DJI_0001.JPG"
  return list
end)
assert(state.get("seen")[1] == "DJI_0001.JPG")

-- state.increment
local state = require("state")
assert(state.increment("runs") == 1 and state.increment("runs", 5) == 6)

-- state.expire
local state = require("state")
state.set("token", "x")
assert(state.expire("token", 3600) and not state.expire("other", 1))

-- state.clear
local state = require("state")
state.set("tmp/a", 1)
assert(state.clear("tmp/") == 1)

-- state.open
local season = require("state").open("season 2024")
season:set("fields", { "n1", "n2" })
assert(season:get("fields")[2] == "n2" and require("state").get("fields") == nil)

-- namespace:get
local s = require("state").open("survey")
assert(s:get("last run", "never") == "never")

-- namespace:set
local s = require("state").open("survey")
s:set("survey", { mission = "m1", photos = 120 })
assert(s:get("survey").photos == 120)

-- namespace:delete
local s = require("state").open("survey")
s:set("old", 1)
assert(s:delete("old") and not s:delete("old"))

-- namespace:keys
local s = require("state").open("survey")
s:set("done/a", true)
s:set("done/b", true)
assert(#s:keys("done/") == 2)

-- namespace:each
local s = require("state").open("survey")
s:set("n/1", 10)
s:set("n/2", 20)
local sum = 0
for key, n in s:each("n/") do sum = sum + n end
assert(sum == 30)

-- namespace:update
local s = require("state").open("survey")
s:update("seen", function(list)
  list = list or {}
  list[#list + 1] = "DJI_0001.JPG"
  return list
end)
assert(s:get("seen")[1] == "DJI_0001.JPG")

-- namespace:increment
local s = require("state").open("survey")
assert(s:increment("runs") == 1 and s:increment("runs", 5) == 6)

-- namespace:expire
local s = require("state").open("survey")
s:set("token", "x")
assert(s:expire("token", 3600) and not s:expire("other", 1))

-- namespace:clear
local s = require("state").open("survey")
s:set("tmp/a", 1)
assert(s:clear("tmp/") == 1)
