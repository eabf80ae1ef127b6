-- Tag a project, and list the tags of one
-- Tags are words people see; categories are fields of datasets, which searches find.
local sdk, query = require("sdk"), require("query")
local project = sdk.projects.search{ filter = query.eq("name", "North quarry") }[1]
sdk.tags.create("spring", { project = project, type = "project", target = project })
for _, tag in ipairs(sdk.tags.search{ project = project }) do print(tag.name, tag.type) end
--> spring
