local sdk = require("sdk")
local company = sdk.users.describe().company
local height = sdk.assessment_parameters_variables.create{ company = company, name = "plant height" }

-- assessment_parameters_variables.create
local second = sdk.assessment_parameters_variables.create{ company = company, name = "leaf area" }
assert(second.name == "leaf area")

-- assessment_parameters_variables.delete
sdk.assessment_parameters_variables.delete(height)
assert(#sdk.assessment_parameters_variables.search{} == 0)

-- assessment_parameters_variables.describe
assert(sdk.assessment_parameters_variables.describe(height).name == "plant height")

-- assessment_parameters_variables.search
local found = sdk.assessment_parameters_variables.search{ filter = { name = { ["$eq"] = "plant height" } } }
assert(found[1].id == height.id)

-- assessment_parameters_variables.search_generator
for v in sdk.assessment_parameters_variables.search_generator{} do print(v.name) end

-- assessment_parameters_variables.update
assert(sdk.assessment_parameters_variables.update{ assessment_parameter_variable = height, name = "plant height in cm" }.name == "plant height in cm")
