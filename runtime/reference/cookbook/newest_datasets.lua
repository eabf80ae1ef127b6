-- Show the ten newest datasets
-- Only the fields that are printed are asked for.
local sdk = require("sdk")
for _, d in ipairs(sdk.datasets.search{ sort = { creation_date = -1 }, limit = 10, fields = { include = { "name", "type", "creation_date" } } }) do
  print(d.creation_date, d.type, d.name)
end
--> … image FLIGHT_0007.JPG
