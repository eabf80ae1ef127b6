local sdk = require("sdk")
local project = sdk.projects.create("North quarry", sdk.users.describe().company)
local tag = sdk.tags.create("monthly", { project = project, type = "project" })

-- tags.create
local map = sdk.datasets.create_file_dataset{ name = "Map", project = project }
local final = sdk.tags.create("final", { project = project, type = "dataset", target = map })
assert(final.name == "final")

-- tags.delete
sdk.tags.delete(tag)
assert(#sdk.tags.search{ project = project } == 0)

-- tags.search
for _, t in ipairs(sdk.tags.search{ project = project, type = "project" }) do print(t.name, t.type) end

-- tags.search_generator
local names = {}
for t in sdk.tags.search_generator{ project = project } do names[#names + 1] = t.name end
assert(names[1] == "monthly")
