-- Find the photos within 20 metres of a point
-- query.near gives a square; geo.distance decides.
local sdk, query, geo = require("sdk"), require("query"), require("geo")
local here = geo.point(4.9127, 50.7312)
for photo in sdk.datasets.search_generator{ filter = query.all(query.eq("type", "image"), query.near(4.9127, 50.7312, 20)) } do
  local metres = geo.distance(here, photo.geometry)
  if metres <= 20 then print(photo.name, ("%.1f m"):format(metres)) end
end
--> FLIGHT_0001.JPG 0.0 m
