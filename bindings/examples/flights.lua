local sdk = require("sdk")
local project = sdk.projects.create("North quarry", sdk.users.describe().company)
local outline = { { 5.70, 45.18 }, { 5.74, 45.18 }, { 5.74, 45.20 }, { 5.70, 45.20 }, { 5.70, 45.18 } }
local flight, mission = sdk.missions.create{
  project = project, name = "May survey", survey_date = "2026-05-31", number_of_images = 2, coordinates = outline,
}

-- flights.create
local _, err = try(sdk.flights.create)
assert(err.name == "UnsupportedOperationError")
print(err.hint) -- missions.create makes the flight

-- flights.describe
assert(sdk.flights.describe(flight).mission == mission.id)
assert(#sdk.flights.describe(mission.flights) == 1)

-- flights.describe_uploads_status
for _, status in ipairs(sdk.flights.describe_uploads_status{ missions = mission }) do
  print(status.id, require("inspect").value(status:totable()))
end

-- flights.search
local found = sdk.flights.search{ filter = { project = { ["$eq"] = project.id } }, sort = { survey_date = -1 } }
assert(found[1].id == flight.id)

-- flights.search_generator
local photos = 0
for f in sdk.flights.search_generator{ filter = { project = { ["$eq"] = project.id } } } do
  photos = photos + f.number_of_photos
end
assert(photos == 2)

-- flights.update_bbox
sdk.flights.update_bbox(flight, { real_bbox = { type = "Polygon", coordinates = { outline } } })

-- flights.update_geodata
sdk.flights.update_geodata(flight, {
  bbox = { 5.70, 45.18, 5.74, 45.20 }, geometry = { type = "Polygon", coordinates = { outline } },
})

-- flights.update_name
assert(sdk.flights.update_name(flight, { name = "battery 1" }).name == "battery 1")

-- flights.update_status
sdk.flights.update_status(flight, { status = "completed" })

-- flights.update_survey_date
sdk.flights.update_survey_date(flight, { survey_date = "2026-05-30T06:30:00Z" })
