local sdk = require("sdk")

-- companies.describe
local company = sdk.companies.describe(sdk.users.describe().company)
print(company.name)

-- companies.search
local found = sdk.companies.search{ filter = { name = { ["$match"] = "local" } } }
for _, company in ipairs(found) do print(company.id, company.name) end

-- companies.search_generator
local count = 0
for company in sdk.companies.search_generator{} do
  count = count + 1
end
assert(count == 1)
