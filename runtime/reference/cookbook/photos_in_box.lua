-- Find the photos in a box of longitudes and latitudes
-- Photos are points: coordinates.0 is the longitude, .1 the latitude.
local sdk, query = require("sdk"), require("query")
local west, south, east, north = 4.9126, 50.7311, 4.9128, 50.7316
local filter = query.all(query.eq("type", "image"),
  query.between("geometry.coordinates.0", west, east), query.between("geometry.coordinates.1", south, north))
for photo in sdk.datasets.search_generator{ filter = filter } do
  print(photo.name, photo.geometry.coordinates[1], photo.geometry.coordinates[2])
end
--> FLIGHT_0001.JPG 4.9127 50.7312
