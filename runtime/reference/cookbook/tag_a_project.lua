-- Tag a project, and list the tags of one
-- Tags are words people see; categories are fields of datasets, which searches find.
local sdk, lookup = require("sdk"), require("lookup")
local project = lookup.project("North quarry")
sdk.tags.create("spring", { project = project, type = "project", target = project })
for _, tag in ipairs(sdk.tags.search{ project = project }) do print(tag.name, tag.type) end
--> spring project
