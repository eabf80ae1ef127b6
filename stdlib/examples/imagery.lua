-- imagery.read
local imagery = require("imagery")
local _, err = try(imagery.read, "missing.jpg")
assert(err.name == "FileError")

-- imagery.scan
local imagery = require("imagery")
local _, err = try(imagery.scan, "no such folder")
assert(err.name == "FileError" and err.hint)

-- imagery.each
local imagery, fs = require("imagery"), require("fs")
fs.write("broken.jpg", "")
for photo, problem in imagery.each({ "broken.jpg" }) do
  assert(photo.name == "broken.jpg" and problem.cause == "empty")
end

-- imagery.footprint
local imagery, geo = require("imagery"), require("geo")
local photo = { name = "DJI_0001.JPG", latitude = 52, longitude = 4.5, width = 4000, height = 3000, yaw = 0, pitch = -90, focal_length_35 = 24 }
local seen = imagery.footprint(photo, { height = 60 })
assert(geo.contains(seen, { 4.5, 52 }) and seen.properties.area > 5600 and seen.properties.area < 5700)
local _, err = try(imagery.footprint, photo)
assert(err.message:find("height above the ground"))
