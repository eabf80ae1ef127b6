-- List the datasets whose files never arrived
-- A component is pending until its file is there.
local sdk, query = require("sdk"), require("query")
for d in sdk.datasets.search_generator{ filter = query.eq("components.status", "pending") } do
  print(d.name, d.type, d.creation_date)
end
--> notes.txt file …
