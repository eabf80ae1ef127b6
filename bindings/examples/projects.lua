local sdk = require("sdk")
local company = sdk.users.describe().company
local project = sdk.projects.create("North quarry", company)

-- projects.create
local south = sdk.projects.create{
  name = "South quarry", company = company,
  geometry = { type = "Point", coordinates = { 5.72, 45.19 } },
}
assert(sdk.projects.describe(south).name == "South quarry")

-- projects.find_or_create
local west, created = sdk.projects.find_or_create{ name = "West quarry" }
local again, twice = sdk.projects.find_or_create{ name = "West quarry", company = company }
assert(created and not twice and west.id == again.id)

-- projects.delete
sdk.projects.delete(project)
local gone, err = try(sdk.projects.describe, project)
assert(gone == nil and err.status == 404)

-- projects.describe
local one = sdk.projects.describe(project.id)
local several = sdk.projects.describe({ project, one })
assert(one.name == "North quarry" and #several == 2)

-- projects.search
local found = sdk.projects.search{ filter = { name = { ["$match"] = "quarry" } }, sort = { name = 1 }, limit = 10 }
for _, p in ipairs(found) do print(p.name, p.created) end
local counted = sdk.projects.search{ limit = 1, return_total = true }
assert(counted.total == 1)

-- projects.search_generator
for p in sdk.projects.search_generator{ filter = { name = { ["$match"] = "quarry" } } } do
  print(p.id, p.name)
end

-- projects.compute_bbox
local computed = sdk.projects.compute_bbox(project)
assert(computed.id == project.id)

-- projects.update_bbox
sdk.projects.update_bbox(project, { real_bbox = { type = "Polygon", coordinates = {
  { { 5.70, 45.18 }, { 5.74, 45.18 }, { 5.74, 45.20 }, { 5.70, 45.20 }, { 5.70, 45.18 } } } } })
assert(sdk.projects.describe(project).real_bbox)

-- projects.update_geometry
local moved = sdk.projects.update_geometry(project, { geometry = { type = "Point", coordinates = { 5.73, 45.19 } } })
assert(moved.geometry.coordinates[1] == 5.73)

-- projects.update_local_coordinates_dataset
local grid = sdk.datasets.create_file_dataset{ name = "Site grid", project = project }
sdk.projects.update_local_coordinates_dataset(project, { dataset = grid })

-- projects.update_location
sdk.projects.update_location(project, { location = { 5.72, 45.19 }, fixed = true })

-- projects.update_name
sdk.projects.update_name(project, { name = "North quarry, phase 2" })
assert(sdk.projects.describe(project).name == "North quarry, phase 2")

-- projects.update_srs
sdk.projects.update_srs(project, { horizontal_srs_wkt = 'LOCAL_CS["site grid"]', vertical_srs_wkt = 'VERT_CS["site height"]' })

-- projects.update_status
sdk.projects.update_status(project, "maintenance")
assert(sdk.projects.describe(project).status == "maintenance")

-- projects.update_units
sdk.projects.update_units(project, { units = { distances = "meters", surfaces = "hectares", volumes = "cubic-meters" } })
