local sdk, fs = require("sdk"), require("fs")
local project = sdk.projects.create("North quarry", sdk.users.describe().company)
local spot = { type = "Point", coordinates = { 5.72, 45.19 } }
local annotation = sdk.annotations.create{ project = project, name = "Loose rock", geometry = spot }
local sheet = sdk.datasets.create_file_dataset{ name = "Inspection sheet", project = project }

-- annotations.create
fs.write("crack.txt", "4 cm wide, north face")
local crack = sdk.annotations.create{
  project = project, name = "Crack", description = "to be watched",
  geometry = { type = "LineString", coordinates = { { 5.72, 45.19 }, { 5.73, 45.19 } } },
  stroke = { 255, 0, 0 }, stroke_width = 3, stroke_dasharray = { 4, 2 }, file_paths = { "crack.txt" },
}
assert(#crack.attachments == 1)

-- annotations.create_annotations
local several = sdk.annotations.create_annotations{
  { project = project, name = "Conveyor", geometry = spot, icon = "CONVEYOR" },
  { project = project, name = "Gate", geometry = spot },
}
assert(#several == 2)

-- annotations.add_attachments
fs.write("photo list.txt", "DJI_0001.JPG\n")
sdk.annotations.add_attachments(annotation, { attachments = { sheet }, file_paths = { "photo list.txt" } })
assert(#sdk.annotations.describe(annotation).attachments == 2)

-- annotations.remove_attachments
sdk.annotations.add_attachments(annotation, { attachments = { sheet } })
sdk.annotations.remove_attachments(annotation, { attachments = sheet })
assert(#sdk.annotations.describe(annotation).attachments == 0)

-- annotations.delete
sdk.annotations.delete(annotation)
assert(#sdk.annotations.search{ project = project } == 0)

-- annotations.restore
sdk.annotations.delete({ annotation })
sdk.annotations.restore({ annotation })
assert(#sdk.annotations.search{ project = project } == 1)

-- annotations.describe
assert(sdk.annotations.describe(annotation).name == "Loose rock")

-- annotations.rename
sdk.annotations.rename(annotation, { name = "Loose rock, removed" })

-- annotations.search
for _, a in ipairs(sdk.annotations.search{ project = project, sort = { name = 1 } }) do print(a.name, a.type) end

-- annotations.search_generator
for a in sdk.annotations.search_generator{ filter = { project = { ["$eq"] = project.id } } } do print(a.name) end

-- annotations.set_description
sdk.annotations.set_description(annotation, { description = "about 2 cubic metres" })

-- annotations.set_fill_color
local area = sdk.annotations.create{ project = project, geometry = { type = "Polygon", coordinates = {
  { { 5.70, 45.18 }, { 5.74, 45.18 }, { 5.74, 45.20 }, { 5.70, 45.18 } } } } }
sdk.annotations.set_fill_color(area, { color = { 255, 200, 0 }, opacity = 0.4 })

-- annotations.set_fill_opacity
local area = sdk.annotations.create{ project = project, geometry = { type = "Polygon", coordinates = {
  { { 5.70, 45.18 }, { 5.74, 45.18 }, { 5.74, 45.20 }, { 5.70, 45.18 } } } } }
sdk.annotations.set_fill_opacity(area, { opacity = 0.25 })

-- annotations.set_geometry
sdk.annotations.set_geometry(annotation, { geometry = { type = "Point", coordinates = { 5.73, 45.19 } } })

-- annotations.set_icon
sdk.annotations.set_icon(annotation, { icon = "CONVEYOR" })

-- annotations.set_normals
local wall = sdk.annotations.create{
  project = project, type = "3d", geometry = { type = "LineString", coordinates = { { 0, 0, 0 }, { 0, 2, 0 } } },
}
sdk.annotations.set_normals(wall, { normals = { { 1, 0, 0 }, { 1, 0, 0 } } })

-- annotations.set_stroke_color
sdk.annotations.set_stroke_color(annotation, { color = { 0, 128, 255 }, opacity = 0.8 })

-- annotations.set_stroke_dasharray
sdk.annotations.set_stroke_dasharray(annotation, { dasharray = { 6, 3 } })

-- annotations.set_stroke_opacity
sdk.annotations.set_stroke_opacity(annotation, { opacity = 0.5 })

-- annotations.set_stroke_width
sdk.annotations.set_stroke_width(annotation, { width = 2 })
