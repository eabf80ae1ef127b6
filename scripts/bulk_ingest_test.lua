local test, sdk, fs, json, path = require("test"), require("sdk"), require("fs"), require("json"), require("path")

-- card makes a folder with a GeoJSON, a text in a folder below and an image that is none.
local function card()
  local dir = path.join(test.temp_dir(), "card")
  fs.mkdir(path.join(dir, "deep"))
  fs.write(path.join(dir, "broken.jpg"), "")
  fs.write(path.join(dir, "field.geojson"), '{"type":"FeatureCollection","features":[]}')
  fs.write(path.join(dir, "deep", "notes.txt"), "take-off 10:30")
  return dir
end
local function count(manager) return manager.search({ limit = 1, return_total = true }).total end
local function ingest(code, ...)
  local run = test.run("bulk_ingest.lua", ...)
  test.equal(run.code, code, run.output .. run.errors)
  return run
end

test.case("explains itself", function() test.contains(ingest(0, "--help").output, "--retry-failed") end)

test.case("a preview sends nothing", function()
  test.contains(ingest(3, card(), "--preview").output, "nothing was sent")
  test.equal({ count(sdk.projects), count(sdk.datasets) }, { 0, 0 })
end)

test.case("what fails does not stop the rest, and can be tried again alone", function()
  local dir = card()
  local first, again = path.join(dir, "..", "first.csv"), path.join(dir, "..", "again.json")
  local run = ingest(3, dir, "--report", first)
  test.contains(run.output, "damaged: broken.jpg: ")
  test.contains(run.errors, "1 of 3")
  local report = fs.read(first)
  test.contains(report, "deep/notes.txt,")
  test.contains(report, ",uploaded,file,")
  test.equal(count(sdk.datasets), 2)
  fs.write(path.join(dir, "broken.jpg"), "it is a text now")
  ingest(0, "--retry-failed", first, "--report", again, "--verify")
  local told = json.decode(fs.read(again))
  test.equal({ told.uploaded, told.failed, #told.files, told.files[1].name }, { 1, 0, 1, "broken.jpg" })
  ingest(0, dir)
  test.equal(count(sdk.datasets), 3)
end)

test.case("filters", function()
  ingest(0, card(), "--include", "*.txt", "--include", "*.geojson", "--max-size", "20")
  test.equal(count(sdk.datasets), 1)
end)

test.case("one wrong file keeps all back when asked to be strict", function()
  ingest(1, card(), "--strict")
  test.equal(count(sdk.datasets), 0)
end)

test.case("mistakes", function()
  test.contains(ingest(1, card(), "--mission", "nowhere").errors, "has no mission nowhere")
  test.contains(ingest(2, card(), "--kind", "shape").errors, "shape")
  test.contains(ingest(1, "nowhere").errors, "does not exist")
  test.contains(ingest(1).errors, "name a SOURCE")
end)
