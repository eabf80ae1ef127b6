-- List the missions without a dataset
-- Such missions were made, and nothing was uploaded.
local sdk, query = require("sdk"), require("query")
for mission in sdk.missions.search_generator{} do
  if #sdk.datasets.search{ filter = query.eq("mission", mission), limit = 1 } == 0 then
    print(mission.name, sdk.projects.describe(mission.project).name, mission.created)
  end
end
--> June survey North quarry …
