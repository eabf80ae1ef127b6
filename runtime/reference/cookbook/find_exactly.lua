-- Find one mission by its name, and its project
-- A name that is not there, or there twice, is an error that lists what is. A path or an id is taken, too.
local sdk, lookup = require("sdk"), require("lookup")
local mission = lookup.mission("North quarry/May survey")
print(mission.name, "of", sdk.projects.describe(mission.project).name)
--> May survey of North quarry
