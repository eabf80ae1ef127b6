-- Rename many datasets by a rule
-- With --dry-run before the script's name nothing is changed. transect run --dry-run rename_many.lua
local sdk, query = require("sdk"), require("query")
for d in sdk.datasets.search_generator{ filter = query.match("name", "FLIGHT_") } do
  local name = d.name:gsub("^FLIGHT_", "north-"):lower()
  sdk.datasets.rename(d, { name = name })
  print(d.name, "is now", name)
end
--> FLIGHT_0001.JPG is now north-0001.jpg
