-- List the analytics one can order, with their versions and inputs
-- describe_by_name takes a range, such as 1.x, and finds the highest version.
local sdk = require("sdk")
for a in sdk.analytics.search_generator{ sort = { name = 1, version = 1 } } do
  print(a.name, a.version, a.display_name)
end
local report = sdk.analytics.describe_by_name("flight_report", { version = "1.x" })
for _, input in ipairs(report.inputs) do print(input.name, input.required and "required" or "optional", input.description) end
--> flight_report 2.0.0 Flight report
--> mission required mission whose images are read
