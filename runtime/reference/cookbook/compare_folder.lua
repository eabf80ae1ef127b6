-- Compare a folder with what a mission holds, before the card is formatted
-- Size and checksum of every file are compared. transect run compare_folder.lua flight "May survey"
local lookup, ingest = require("lookup"), require("ingest")
local mission = lookup.mission(arg[2])
local result = ingest.verify{ source = arg[1], project = mission.project, mission = mission }
-- What the mission holds besides, such as a product's datasets, is result.extra.
print(result.bad == 0 and "everything is there" or "not everything is there", result.already_there .. " files")
--> everything is there 8 files
