local sdk = require("sdk")
local company = sdk.users.describe().company
local set = sdk.analytic_configurations.create("quick look", "rehearsal", { duration = 1 })

-- analytic_configurations.create
local thorough = sdk.analytic_configurations.create("thorough", "rehearsal", { duration = 30 }, "1.x", "for final deliveries")
assert(thorough.versions[1].analytic_version_range == "1.x")

-- analytic_configurations.update
sdk.analytic_configurations.update(set, { value = { duration = 2 }, analytic_version_range = "*" })

-- analytic_configurations.delete
sdk.analytic_configurations.delete(set)
assert(#sdk.analytic_configurations.search{} == 0)

-- analytic_configurations.describe
assert(sdk.analytic_configurations.describe(set).name == "quick look")

-- analytic_configurations.search
local found = sdk.analytic_configurations.search{ filter = { analytic_name = { ["$eq"] = "rehearsal" } } }
assert(#found == 1)

-- analytic_configurations.search_generator
for s in sdk.analytic_configurations.search_generator{} do print(s.name, s.analytic_name) end

-- analytic_configurations.assign_to_company
sdk.analytic_configurations.assign_to_company(set, { company = company })

-- analytic_configurations.unassign_from_company
sdk.analytic_configurations.assign_to_company(set, { company = company })
sdk.analytic_configurations.unassign_from_company(set, { company = company })
