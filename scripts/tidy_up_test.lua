local test, sdk, fs, fixture = require("test"), require("sdk"), require("fs"), require("testing.fixture")

local dir, project
test.before(function()
  dir, project = test.temp_dir(), fixture.project("Surveys")
  local file = fixture.file(dir, "note.txt", "north face")
  fixture.uploaded(sdk.datasets.create_file_dataset, { name = "good", project = project }, "file", file)
  local image = { name = "broken", project = project }
  local broken = fixture.uploaded(sdk.datasets.create_image_dataset, image, "image", file)
  test.equal(broken.ingestion.status, "failed", "a note is no image")
  sdk.datasets.create_file_dataset({ name = "begun", project = project })
end)

local function names()
  local list = {}
  for d in sdk.datasets.search_generator() do list[#list + 1] = d.name end
  table.sort(list)
  return table.concat(list, ", ")
end

test.case("lists, and deletes nothing", function()
  local run = test.run("tidy_up.lua", "Surveys", "--days", 0, "--list", dir .. "/list.csv")
  test.equal(run.code, 0, run.errors)
  test.contains(run.output, "its upload was abandoned")
  test.contains(run.output, "its ingestion failed")
  test.contains(run.output, "2 datasets; nothing was deleted")
  test.equal(names(), "begun, broken, good")
  test.contains(fs.read(dir .. "/list.csv"), "broken")
end)

test.case("deletes what is orphaned, and only that", function()
  local run = test.run("tidy_up.lua", "Surveys", "--days", 0, "--delete")
  test.equal(run.code, 0, run.errors)
  test.contains(run.output, "2 datasets deleted")
  test.equal(names(), "good")
  test.contains(test.run("tidy_up.lua", "Surveys", "--days", 0).output, "is tidy")
end)

test.case("an upload that began lately is left", function()
  test.run("tidy_up.lua", "Surveys", "--delete", "--keep-failed")
  test.equal(names(), "begun, broken, good")
end)

test.case("what a product uses is left", function()
  local broken = sdk.datasets.search({ filter = { name = { ["$eq"] = "broken" } }, limit = 1 })[1]
  local company = sdk.users.describe().company
  sdk.credentials.create({ name = "registry", company = company,
    credentials = { type = "docker", login = "robot", password = "rosebud", registry = "registry.example.com" } })
  local analytic = sdk.analytics.create({ name = "volumes", version = "1.0.0", company = company,
    container_image = "registry.example.com/volumes:1", container_credentials_name = "registry",
    inputs = { { name = "image" } } })
  sdk.analytics.expose("volumes", company)
  sdk.analytics.enable("volumes", company)
  sdk.analytics.order(analytic, { project = project, inputs = { image = broken.id } })
  test.run("tidy_up.lua", "Surveys", "--delete")
  test.equal(names(), "begun, broken, good")
end)
