-- Add a category to many datasets
-- Several requests run at once. Doing it twice changes nothing more.
local sdk, query, task = require("sdk"), require("query"), require("task")
local photos = {}
for d in sdk.datasets.search_generator{ filter = query.eq("type", "image") } do photos[#photos + 1] = d end
task.map(photos, function(d) sdk.datasets.add_categories(d, { categories = { "spring" } }) end, { workers = 8 })
print(sdk.datasets.search{ filter = query.eq("categories", "spring"), limit = 1, return_total = true }.total, "are tagged")
--> 10 are tagged
