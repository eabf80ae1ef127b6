-- What the recipes of the cookbook and the examples of the guides find on the
-- platform: two projects, a mission with photos and a product, a mission without,
-- a file that never arrived, a photo that is broken, and a copy of another one.
local sdk, ingest, fs = require("sdk"), require("ingest"), require("fs")
local company = sdk.users.describe().company
project = sdk.projects.create("North quarry", company)
sdk.projects.create("Harbour", company)
local mission = sdk.missions.find_or_create{ project = project, name = "May survey", number_of_images = 8,
  coordinates = { { 4.91, 50.73 }, { 4.92, 50.73 }, { 4.92, 50.74 }, { 4.91, 50.73 } } }
assert(ingest.run{ source = "flight", project = project, mission = mission }.uploaded == 8)
sdk.missions.find_or_create{ project = project, name = "June survey" }
sdk.datasets.create_file_dataset{ name = "notes.txt", project = project }
fs.write("broken.jpg", ("\0"):rep(1000))
for name, path in pairs{ ["broken.jpg"] = "broken.jpg", ["copy.jpg"] = "flight/FLIGHT_0001.JPG" } do
  local photo = sdk.datasets.create_image_dataset{ name = name, project = project }
  sdk.datasets.upload_file(photo, { component = "image", file_path = path })
end
sdk.datasets.wait{ filter = { type = { ["$eq"] = "image" } } }
sdk.products.wait(sdk.analytics.order{ name = "flight_report", inputs = { mission = mission } })
try(sdk.products.wait, sdk.analytics.order{ name = "rehearsal", parameters = { duration = 0, outcome = "failed" } })
fs.write("points.csv", "name,longitude,latitude\nNorth well,4.9127,50.7312\nSouth well,4.9128,50.7310\n")
