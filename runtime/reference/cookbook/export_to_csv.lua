-- Export the datasets of a project to CSV
-- bom = true is what spreadsheets want. transect run export_to_csv.lua "North quarry" datasets.csv
local sdk, lookup, query, csv = require("sdk"), require("lookup"), require("query"), require("csv")
local project = lookup.project(arg[1])
local rows = {}
for d in sdk.datasets.search_generator{ filter = query.eq("project", project) } do
  local position = d.geometry and d.geometry.type == "Point" and d.geometry.coordinates or {}
  rows[#rows + 1] = { name = d.name, type = d.type, bytes = d.size, taken = d.acquisition_date, longitude = position[1], latitude = position[2] }
end
csv.write(arg[2], rows, { header = { "name", "type", "bytes", "taken", "longitude", "latitude" }, bom = true })
print(#rows .. " rows in " .. arg[2])
--> 13 rows in datasets.csv
