-- Delete datasets, see what was deleted, and restore it
-- A filter on deletion_date finds what is deleted.
local sdk, query = require("sdk"), require("query")
local old = sdk.datasets.search{ filter = query.match("name", "FLIGHT_0001") }
sdk.datasets.delete(old)
for d in sdk.datasets.search_generator{ filter = query.exists("deletion_date") } do
  print(d.name, "was deleted")
  sdk.datasets.restore(d)
end
print(#sdk.datasets.search{ filter = query.match("name", "FLIGHT_0001") } .. " again")
--> FLIGHT_0001.JPG was deleted
--> 1 again
