-- Download all files of a mission
-- A file that is there is not fetched again. transect run download_files.lua "May survey" copy
local sdk, lookup, query, fs = require("sdk"), require("lookup"), require("query"), require("fs")
local mission = lookup.mission(arg[1])
local n = 0
for d in sdk.datasets.search_generator{ filter = query.eq("mission", mission) } do
  for _, c in ipairs(d.components) do
    local name = c.filename or d.name
    if c.status == "completed" and not fs.exists(arg[2] .. "/" .. name) then
      sdk.datasets.download_component(d, { component = c.name, target_path = arg[2], target_name = name, md5hash = c.checksum })
      n = n + 1
    end
  end
end
print(n .. " files in " .. arg[2])
--> 11 files in copy
