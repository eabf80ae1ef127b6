local sdk = require("sdk")
local project = sdk.projects.create("North quarry", sdk.users.describe().company)
local outline = { { 5.70, 45.18 }, { 5.74, 45.18 }, { 5.74, 45.20 }, { 5.70, 45.20 }, { 5.70, 45.18 } }
local flight, mission = sdk.missions.create{
  project = project, name = "May survey", survey_date = "2026-05-31", number_of_images = 120, coordinates = outline,
}

-- missions.create
local taking, june = sdk.missions.create{
  project = project, name = "June survey", survey_date = "2026-06-30T08:15:00Z", number_of_images = 80,
  coordinates = outline, area = 240000,
}
assert(june.flights[1] == taking.id)

-- missions.find_or_create
local august, created = sdk.missions.find_or_create{
  project = project, name = "August survey", number_of_images = 80, coordinates = outline,
}
local again, twice = sdk.missions.find_or_create(project, "August survey")
assert(created and not twice and august.id == again.id and #august.flights == 1)

-- missions.create_mission
local plain = sdk.missions.create_mission{ project = project, name = "Deliverables only", survey_date = "2026-06-30" }
assert(#(plain.flights or {}) == 0)

-- missions.create_survey
local taking, july = sdk.missions.create_survey{
  project = project, name = "July survey", survey_date = "2026-07-31", number_of_images = 64,
  geometry = { type = "GeometryCollection", geometries = { { type = "Polygon", coordinates = { outline } } } },
}
print(july.name, taking.number_of_photos)

-- missions.create_archive
local accepted = sdk.missions.create_archive(mission, { name = "images of May", chunk_size = 2000 })
assert(accepted)

-- missions.complete_survey_upload
sdk.missions.complete_survey_upload{ flight = flight, status = "complete" }

-- missions.compute_bbox
assert(sdk.missions.compute_bbox(mission).id == mission.id)

-- missions.update_bbox
sdk.missions.update_bbox(mission, { real_bbox = { type = "Polygon", coordinates = { outline } } })

-- missions.update_geometry
sdk.missions.update_geometry(mission, { geometry = { type = "Polygon", coordinates = { outline } } })

-- missions.update_name
local renamed = sdk.missions.update_name(mission, { name = "May survey, north face" })
assert(renamed.name == "May survey, north face")

-- missions.update_survey_date
sdk.missions.update_survey_date(mission, { survey_date = "2026-05-30" })

-- missions.delete
sdk.missions.delete(mission)
assert(#sdk.missions.search{ filter = { project = { ["$eq"] = project.id } } } == 0)

-- missions.describe
local described = sdk.missions.describe(mission)
assert(described.project == project.id and described.flights[1] == flight.id)

-- missions.search
local latest = sdk.missions.search{ filter = { project = { ["$eq"] = project.id } }, sort = { survey_date = -1 }, limit = 3 }
for _, m in ipairs(latest) do print(m.name, m.survey_date) end

-- missions.search_generator
for m in sdk.missions.search_generator{ filter = { project = { ["$eq"] = project.id } } } do
  print(m.name, #m.flights)
end
