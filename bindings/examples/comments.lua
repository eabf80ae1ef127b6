local sdk = require("sdk")
local project = sdk.projects.create("North quarry", sdk.users.describe().company)
local comment = sdk.comments.create("The north face is missing.", { project = project, type = "project" })

-- comments.create
local map = sdk.datasets.create_file_dataset{ name = "Map", project = project }
local about = sdk.comments.create("Please check the scale.", { project = project, type = "dataset", target = map })
assert(about.text == "Please check the scale.")

-- comments.mark_as_read
sdk.comments.mark_as_read{ project = project }

-- comments.search
for _, c in ipairs(sdk.comments.search{ project = project }) do print(c.creation_date, c.text) end

-- comments.search_generator
local count = 0
for c in sdk.comments.search_generator{ project = project, type = "project" } do count = count + 1 end
assert(count == 1)
