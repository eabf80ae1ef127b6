-- Check a folder before it is uploaded
-- Damaged and incomplete files are named; nothing is sent. transect run check_a_folder.lua flight
local ingest = require("ingest")
local report = ingest.check{ source = arg[1] }
print(report.images .. " images", report.errors .. " errors")
for _, p in ipairs(report.problems) do print(p.severity, p.name, p.message) end
--> 8 images 0 errors
