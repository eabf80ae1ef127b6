-- sdk.managers
local names = require("sdk").managers()
assert(names[1] == "projects")

-- sdk.connect
local sdk = require("sdk")
local other = sdk.connect{ timeout = 30 }
assert(other.url == sdk.url and #other.projects.search{} == 0)
