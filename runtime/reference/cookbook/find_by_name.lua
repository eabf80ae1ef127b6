-- Find projects by part of their name
-- $match looks for a part of the text, in any case. transect run find_by_name.lua quarry
local sdk = require("sdk")
for p in sdk.projects.search_generator{ filter = { name = { ["$match"] = arg[1] } } } do
  print(p.id, p.name)
end
--> … North quarry
