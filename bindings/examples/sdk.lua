-- sdk.managers
local names = require("sdk").managers()
assert(names[1] == "projects")

-- sdk.connect
local sdk = require("sdk")
local other = sdk.connect{ timeout = 30 }
assert(other.url == sdk.url and #other.projects.search{} == 0)

-- sdk.Resource
local sdk = require("sdk")
local company = sdk.users.describe().company
local project = sdk.projects.create("North quarry", company)
local same = sdk.Resource(project.id, { name = "North quarry" })
assert(same.name == "North quarry" and sdk.projects.describe(same).id == project.id)
