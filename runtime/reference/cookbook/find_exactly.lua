-- Find one mission by its exact name, and its project
-- A name may occur twice: take the first only after looking how many there are.
local sdk, query = require("sdk"), require("query")
local found = sdk.missions.search{ filter = query.eq("name", "May survey") }
if #found ~= 1 then error(#found .. " missions are called May survey") end
print(found[1].name, "of", sdk.projects.describe(found[1].project).name)
--> May survey
--> North quarry
