-- Find the photos taken on one day
-- Dates are texts and compare as such; the end is left out.
local sdk, query = require("sdk"), require("query")
local day = query.all(query.gte("acquisition_date", "2024-05-14T00:00:00"), query.lt("acquisition_date", "2024-05-15T00:00:00"))
print(sdk.datasets.search{ filter = day, limit = 1, return_total = true }.total, "photos")
--> 9 photos
