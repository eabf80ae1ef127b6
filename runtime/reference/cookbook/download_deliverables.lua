-- Download what the products of a mission made
-- Files that are there with the right checksum are skipped.
local sdk, lookup, query = require("sdk"), require("lookup"), require("query")
local mission = lookup.mission("North quarry/May survey")
for product in sdk.products.search_generator{ filter = query.all(query.eq("mission", mission), query.eq("status", "available")) } do
  for _, file in ipairs(sdk.products.download_outputs(product, { target_path = "deliverables" })) do print(file.path, file.bytes) end
end
--> …footprints.geojson …
