-- Order an analytic for all missions that do not have it yet
-- transect run order_for_all_missions.lua "North quarry" flight_report
local sdk, lookup, query = require("sdk"), require("lookup"), require("query")
local project = lookup.project(arg[1])
for mission in sdk.missions.search_generator{ filter = query.eq("project", project) } do
  local there = sdk.products.search{ filter = query.all(query.eq("mission", mission), query.eq("analytic_name", arg[2]), query.ne("status", "failed")), limit = 1 }
  if #there > 0 then
    print(mission.name, "has one")
  elseif #mission.flights == 0 then
    print(mission.name, "has no images")
  else
    print(mission.name, sdk.analytics.order{ name = arg[2], inputs = { mission = mission } }.status)
  end
end
--> May survey has one
--> June survey has no images
