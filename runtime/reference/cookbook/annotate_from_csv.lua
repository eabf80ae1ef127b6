-- Make point annotations from a table of positions
-- The columns are name, longitude, latitude. transect run annotate_from_csv.lua points.csv
local sdk, lookup, csv, geo = require("sdk"), require("lookup"), require("csv"), require("geo")
local project = lookup.project("North quarry")
local list = {}
for row in csv.read(arg[1]) do
  list[#list + 1] = { project = project, name = row.name, icon = "WATER", geometry = geo.point(tonumber(row.longitude), tonumber(row.latitude)) }
end
print(#sdk.annotations.create_annotations(list) .. " annotations")
--> 2 annotations
