-- Write the positions of photos as GeoJSON, for a map
-- transect run export_to_geojson.lua "May survey" photos.geojson
local sdk, lookup, query, geo, fs, json = require("sdk"), require("lookup"), require("query"), require("geo"), require("fs"), require("json")
local mission = lookup.mission(arg[1])
local features = {}
for d in sdk.datasets.search_generator{ filter = query.all(query.eq("mission", mission), query.eq("type", "image"), query.exists("geometry")) } do
  features[#features + 1] = geo.feature(d.geometry, { name = d.name, taken = d.acquisition_date })
end
fs.write(arg[2], json.encode(geo.features(features)))
print(#features .. " photos in " .. arg[2])
--> 8 photos in photos.geojson
