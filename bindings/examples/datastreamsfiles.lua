local sdk = require("sdk")

-- datastreamsfiles.search
local found = sdk.datastreamsfiles.search{ filter = { status = { ["$eq"] = "failed" } }, return_total = true }
print(found.total .. " files could not be brought in")

-- datastreamsfiles.search_generator
for file in sdk.datastreamsfiles.search_generator{ sort = { _id = -1 } } do
  print(file.datastream, file.status)
end
