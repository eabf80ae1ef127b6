local sdk = require("sdk")
local company = sdk.users.describe().company
local project = sdk.projects.create("Trial farm", company)
local field = sdk.fields.create{ company = company, project = project, name = "Long acre" }

-- fields.create
local second = sdk.fields.create{ company = company, project = project, name = "Mill field", description = "heavy soil" }
assert(second.project == project.id)

-- fields.delete
sdk.fields.delete(field)
assert(#sdk.fields.search{} == 0)

-- fields.describe
assert(sdk.fields.describe(field, { fields = { include = { "name" } } }).name == "Long acre")

-- fields.search
local found = sdk.fields.search{ filter = { project = { ["$eq"] = project.id } } }
assert(found[1].id == field.id)

-- fields.search_generator
for f in sdk.fields.search_generator{} do print(f.name, f.description) end

-- fields.update
assert(sdk.fields.update{ field = field, project = project, name = "Long acre, east" }.name == "Long acre, east")
