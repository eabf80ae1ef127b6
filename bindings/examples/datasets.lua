local sdk, fs = require("sdk"), require("fs")
local project = sdk.projects.create("North quarry", sdk.users.describe().company)
fs.write("notes.txt", "wind 3 m/s, dry")
local notes = sdk.datasets.create_file_dataset{ name = "Field notes", project = project }
sdk.datasets.upload_file(notes, { component = "file", file_path = "notes.txt" })

-- datasets.wait
local counts = sdk.datasets.wait{ filter = { project = { ["$eq"] = project.id } }, timeout = 60,
  on_change = function(state) print(state.pending .. " to go") end }
assert(counts.pending == 0 and counts.failed == 0 and sdk.datasets.describe(notes).ingestion.status == "completed")
assert(sdk.datasets.wait(notes).completed == 1)

-- datasets.create_datasets
local made = sdk.datasets.create_datasets{ datasets = {
  { name = "Sheet 1", type = "file", project = project.id, components = { { name = "file" } } },
  { name = "Sheet 2", type = "file", project = project.id, components = { { name = "file" } } },
} }
assert(#made == 2)

-- datasets.create_file_dataset
local report = sdk.datasets.create_file_dataset{ name = "Report", project = project, components = { "text", "tables" } }
assert(#report.components == 2)

-- datasets.create_image_dataset
local image = sdk.datasets.create_image_dataset{
  name = "IMG_0001.JPG", project = project, acquisition_date = "2026-05-31T08:15:00Z", width = 4000, height = 3000,
  geometry = { type = "Point", coordinates = { 5.72, 45.19, 310 } },
}
assert(image.type == "image")

-- datasets.create_mesh_dataset
local mesh = sdk.datasets.create_mesh_dataset{
  name = "Quarry face", project = project, dataset_format = "obj", texture_count = 2, offset = { 913000, 6457000, 0 },
}
for _, component in ipairs(mesh.components) do print(component.name) end

-- datasets.create_pcl_dataset
local cloud = sdk.datasets.create_pcl_dataset{ name = "Point cloud", project = project, dataset_format = "las" }
assert(cloud.type == "pcl")

-- datasets.create_raster_dataset
local dsm = sdk.datasets.create_raster_dataset{
  name = "Surface model", project = project, categories = { "dsm" }, has_worldfile = true, vertical_srs_wkt = "egm96",
}
assert(dsm.components[2].name == "worldfile")

-- datasets.create_vector_dataset
local limits = sdk.datasets.create_vector_dataset{
  name = "Site limits", project = project, is_shape_file = true, has_projection_file = true,
}
assert(#limits.components == 4)

-- datasets.delete
sdk.datasets.delete(notes)
assert(#sdk.datasets.search{ filter = { project = { ["$eq"] = project.id } } } == 0)

-- datasets.restore
sdk.datasets.delete({ notes })
sdk.datasets.restore({ notes })
assert(sdk.datasets.describe(notes).name == "Field notes")

-- datasets.describe
local described = sdk.datasets.describe(notes)
assert(described.components[1].name == "file")

-- datasets.rename
sdk.datasets.rename(notes, { name = "Field notes, 31 May" })

-- datasets.add_categories
sdk.datasets.add_categories(notes, { categories = { "weather", "field" } })
assert(#sdk.datasets.describe(notes).categories == 2)

-- datasets.remove_categories
sdk.datasets.add_categories(notes, { categories = { "weather", "field" } })
sdk.datasets.remove_categories(notes, { categories = { "weather" } })
assert(sdk.datasets.describe(notes).categories[1] == "field")

-- datasets.update_properties
sdk.datasets.update_properties(notes, { properties = { wind = 3, sky = "clear" } })
assert(sdk.datasets.describe(notes).properties.sky == "clear")

-- datasets.delete_properties
sdk.datasets.update_properties(notes, { properties = { wind = 3, sky = "clear" } })
sdk.datasets.delete_properties(notes, { properties = { "sky" } })
assert(sdk.datasets.describe(notes).properties.sky == nil)

-- datasets.search
local files = sdk.datasets.search{
  filter = { project = { ["$eq"] = project.id }, type = { ["$eq"] = "file" } }, fields = { include = { "name" } },
}
assert(files[1].name == "Field notes")

-- datasets.search_generator
for d in sdk.datasets.search_generator{ filter = { project = { ["$eq"] = project.id } } } do
  print(d.type, d.name)
end

-- datasets.upload_file
local sheet = sdk.datasets.create_file_dataset{ name = "Sheet", project = project }
sdk.datasets.upload_file(sheet, { component = "file", file_path = "notes.txt" })
assert(sdk.datasets.wait(sheet).completed == 1)

-- datasets.download_component
sdk.datasets.wait(notes)
local path = sdk.datasets.download_component(notes, { component = "file", target_path = "out", overwrite = true })
assert(fs.read(path) == "wind 3 m/s, dry")

-- datasets.download_image_as_jpeg
local photo = arg[1] -- a photo: transect run --local example.lua photo.jpg
local image = sdk.datasets.create_image_dataset{ name = "photo", project = project }
sdk.datasets.upload_file(image, { component = "image", file_path = photo })
sdk.datasets.wait(image)
local path = sdk.datasets.download_image_as_jpeg(image, "out", "photo.jpg", true)
assert(fs.stat(path).size > 0)

-- datasets.download_preview
local photo = arg[1] -- a photo: transect run --local example.lua photo.jpg
local image = sdk.datasets.create_image_dataset{ name = "photo", project = project }
sdk.datasets.upload_file(image, { component = "image", file_path = photo })
sdk.datasets.wait(image)
local path = sdk.datasets.download_preview(image, { kind = "small", target_path = "out", overwrite = true })
print(path, fs.stat(path).size)

-- datasets.share_tiles
local file = arg[2] -- a GeoTIFF: transect run --local example.lua photo.jpg ortho.tif
local raster = sdk.datasets.create_raster_dataset{ name = "Orthophoto", project = project }
sdk.datasets.upload_file(raster, { component = "raster", file_path = file })
sdk.datasets.wait(raster)
local template = sdk.datasets.share_tiles(raster, { duration = 3600 })
assert(template:find("{z}/{x}/{y}", 1, true))
