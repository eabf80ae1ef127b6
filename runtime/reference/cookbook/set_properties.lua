-- Give datasets properties of your own, and find them by these
-- Properties that are not named stay as they are.
local sdk, query = require("sdk"), require("query")
for d in sdk.datasets.search_generator{ filter = query.match("name", "FLIGHT_000") } do
  sdk.datasets.update_properties(d, { properties = { site = "pit 3", checked = true } })
end
for d in sdk.datasets.search_generator{ filter = query.all(query.eq("properties.site", "pit 3"), query.eq("properties.checked", true)) } do
  print(d.name, d.properties.site)
end
--> FLIGHT_0001.JPG pit 3
