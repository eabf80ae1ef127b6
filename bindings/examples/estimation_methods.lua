local sdk = require("sdk")
local company = sdk.users.describe().company
local wheat = sdk.crops.create{ company = company, name = "wheat" }
local method = sdk.estimation_methods.create{
  name = "Plant height", companies = company, crops = { wheat }, input_data_requirements = { sensor_type = "rgb" },
}

-- estimation_methods.create
local vigour = sdk.estimation_methods.create{
  name = "Vigour", companies = { company }, crops = { wheat }, status = "development",
  input_data_requirements = { sensor_type = "ms", gsd = { value = 2, unit = "cm" }, overlap = { forward = 80, lateral = 70 } },
  analytic = { name = "vigour_map", version_range = "1.x", inputs_mapping = { ortho = "reflectance_map" } },
}
assert(vigour.analytic.version_range == "1.x")

-- estimation_methods.delete
sdk.estimation_methods.delete(method)
assert(#sdk.estimation_methods.search{} == 0)

-- estimation_methods.describe
assert(sdk.estimation_methods.describe(method).crops[1] == wheat.id)

-- estimation_methods.list_deliverables_definitions
for _, d in ipairs(sdk.estimation_methods.list_deliverables_definitions{ sensor_type = "rgb" }) do
  print(d.name, d.type)
end

-- estimation_methods.search
assert(#sdk.estimation_methods.search{ filter = { name = { ["$eq"] = "Plant height" } } } == 1)

-- estimation_methods.search_generator
for m in sdk.estimation_methods.search_generator{} do print(m.name, m.status) end

-- estimation_methods.update
local updated = sdk.estimation_methods.update{ estimation_method = method, crops = { wheat }, status = "validated" }
assert(updated.status == "validated" and updated.name == "Plant height")
