-- Add up the bytes of each project
-- The sizes of components are in bytes.
local sdk, query, inspect = require("sdk"), require("query"), require("inspect")
for project in sdk.projects.search_generator{ sort = { name = 1 } } do
  local bytes = 0
  for d in sdk.datasets.search_generator{ filter = query.eq("project", project), fields = { include = { "components" } } } do
    for _, c in ipairs(d.components or {}) do bytes = bytes + (c.size or 0) end
  end
  print(project.name, inspect.size(bytes))
end
--> Harbour 0 B
--> North quarry 54 kB
