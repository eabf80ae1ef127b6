-- Upload a folder of photos into a mission
-- What is there already is not sent again. transect run upload_a_folder.lua flight "Harbour" "First flight"
local sdk, ingest, script = require("sdk"), require("ingest"), require("script")
local project = sdk.projects.find_or_create{ name = arg[2] }
local mission = sdk.missions.find_or_create{ project = project, name = arg[3] }
local result = ingest.run{ source = arg[1], project = project, mission = mission }
print(result.uploaded .. " uploaded, " .. result.already_there .. " already there")
script.fail_items(result.bad, result.total)
--> 8 uploaded, 0 already there
