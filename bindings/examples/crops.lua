local sdk = require("sdk")
local company = sdk.users.describe().company
local crop = sdk.crops.create{ company = company, name = "wheat" }

-- crops.create
local second = sdk.crops.create{ company = company, name = "barley" }
assert(second.name == "barley")

-- crops.delete
sdk.crops.delete(crop)
assert(#sdk.crops.search{} == 0)

-- crops.describe
assert(sdk.crops.describe(crop).name == "wheat")

-- crops.search
local found = sdk.crops.search{ filter = { name = { ["$eq"] = "wheat" } } }
assert(found[1].id == crop.id)

-- crops.search_generator
for c in sdk.crops.search_generator{} do print(c.name) end

-- crops.update
assert(sdk.crops.update{ crop = crop, name = "winter wheat" }.name == "winter wheat")
