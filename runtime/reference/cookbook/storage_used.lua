-- Add up the bytes of each project
-- The sizes of components are in bytes.
local sdk, query = require("sdk"), require("query")
for project in sdk.projects.search_generator{ sort = { name = 1 } } do
  local bytes = 0
  for d in sdk.datasets.search_generator{ filter = query.eq("project", project), fields = { include = { "components" } } } do
    for _, c in ipairs(d.components or {}) do bytes = bytes + (c.size or 0) end
  end
  print(project.name, ("%.1f kB"):format(bytes / 1000))
end
--> Harbour
--> 0.0 kB
--> North quarry
