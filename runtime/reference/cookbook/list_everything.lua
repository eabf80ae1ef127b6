-- List all projects with their missions and the number of datasets
-- return_total with limit = 1 counts without fetching.
local sdk, query = require("sdk"), require("query")
for project in sdk.projects.search_generator{ sort = { name = 1 } } do
  print(project.name)
  for mission in sdk.missions.search_generator{ filter = query.eq("project", project) } do
    local count = sdk.datasets.search{ filter = query.eq("mission", mission), limit = 1, return_total = true }.total
    print("  " .. mission.name, count)
  end
end
--> Harbour
--> North quarry
--> May survey 10
