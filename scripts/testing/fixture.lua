-- What the tests of this folder begin with.
local sdk, fs, path = require("sdk"), require("fs"), require("path")
local fixture = {}

-- flight is the folder of a small flight, beside this one.
local here = debug.getinfo(1, "S").source:gsub("^@", "")
local testdata = path.join(path.dir(path.dir(path.dir(here))), "testdata")
fixture.flight = path.join(testdata, "flight")

-- ortho is a GeoTIFF of the ground of that flight.
fixture.ortho = path.join(testdata, "ortho.tif")

function fixture.project(name)
  return sdk.projects.create(name, sdk.users.describe().company)
end

function fixture.mission(project, name)
  return select(
    2,
    sdk.missions.create({
      project = project,
      name = name,
      survey_date = "2026-05-31",
      number_of_images = 0,
      coordinates = { { 5.7, 45.1 }, { 5.8, 45.1 }, { 5.8, 45.2 }, { 5.7, 45.1 } },
      area = 1,
    })
  )
end

-- file makes a local file.
function fixture.file(dir, name, text)
  local file = path.join(dir, name)
  fs.mkdir(path.dir(file))
  fs.write(file, text)
  return file
end

-- uploaded makes a dataset of a kind that holds a file, and waits until the
-- platform has read it.
function fixture.uploaded(create, options, component, file)
  local dataset = create(options)
  sdk.datasets.upload_file(dataset, { component = component, file_path = file })
  sdk.datasets.wait(dataset)
  return sdk.datasets.describe(dataset)
end

return fixture
