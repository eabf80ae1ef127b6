local sdk = require("sdk")
local company = sdk.users.describe().company
local stage = sdk.growth_stages.create{ company = company, name = "flowering" }

-- growth_stages.create
local second = sdk.growth_stages.create{ company = company, name = "ripening" }
assert(second.name == "ripening")

-- growth_stages.delete
sdk.growth_stages.delete(stage)
assert(#sdk.growth_stages.search{} == 0)

-- growth_stages.describe
assert(sdk.growth_stages.describe(stage).name == "flowering")

-- growth_stages.search
local found = sdk.growth_stages.search{ filter = { name = { ["$eq"] = "flowering" } } }
assert(found[1].id == stage.id)

-- growth_stages.search_generator
for s in sdk.growth_stages.search_generator{} do print(s.name) end

-- growth_stages.update
assert(sdk.growth_stages.update{ growth_stage = stage, name = "full flowering" }.name == "full flowering")
