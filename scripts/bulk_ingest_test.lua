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
  test.contains(ingest(3, card(), "--preview").errors, "nothing was sent")
  test.equal({ count(sdk.projects), count(sdk.datasets) }, { 0, 0 })
end)

test.case("what fails does not stop the rest, and can be tried again alone", function()
  local dir = card()
  local first, again = path.join(dir, "..", "first.csv"), path.join(dir, "..", "again.json")
  local run = ingest(3, dir, "--report", first)
  test.contains(run.errors, "damaged: broken.jpg: it is empty")
  test.contains(run.errors, "made the new project Surveys")
  test.contains(run.errors, "ingest into the local platform, project Surveys:\n  2 uploaded, 1 damaged; 56 B sent")
  test.contains(run.errors, "1 of 3")
  local report = fs.read(first)
  test.contains(report, "deep/notes.txt,")
  test.contains(report, ",uploaded,file,")
  test.equal(count(sdk.datasets), 2)
  local smallest = "\255\216\255\192\0\11\8\0\1\0\1\1\1\17\0\255\218\0\8\1\1\0\0\63\0\0\255\217"
  fs.write(path.join(dir, "broken.jpg"), smallest)
  ingest(0, "--retry-failed", first, "--report", again, "--verify")
  local told = json.decode(fs.read(again))
  test.equal({ told.uploaded, told.failed, #told.files, told.files[1].name }, { 1, 0, 1, "broken.jpg" })
  test.contains(ingest(0, dir).errors, "3 already there; nothing sent")
  test.equal(count(sdk.datasets), 3)
end)

test.case("a mistyped project is not made", function()
  ingest(0, card(), "--include", "*.txt")
  local run = ingest(2, card(), "--project", "Survesy")
  test.contains(run.errors, "there is no project Survesy")
  test.contains(run.errors, "did you mean Surveys? --create makes a new one")
  test.equal(count(sdk.projects), 1)
  local made = ingest(0, card(), "--project", "Other", "--create", "--include", "*.txt")
  test.contains(made.errors, "made the new project Other")
end)

test.case("damaged files stay bad when they are sent, and on the second run", function()
  local dir = card()
  fs.write(path.join(dir, "zeros.jpg"), ("\0"):rep(5000))
  fs.write(path.join(dir, "copy.geojson"), fs.read(path.join(dir, "field.geojson")))
  for round = 1, 2 do
    local run = ingest(3, dir, "--damaged", "send", "--exclude", "broken.jpg")
    test.contains(run.errors, "damaged: zeros.jpg: it is not a JPEG image but begins with zeros")
    test.contains(run.errors, "geojson: it has the same content as ")
    test.contains(run.errors, (round == 1 and "2 uploaded" or "2 already there") .. ", 1 damaged, 1 duplicate")
  end
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
  test.contains(ingest(2, card(), "--mission", "nowhere").errors, "there is no mission nowhere")
  test.contains(ingest(2, card(), "--kind", "shape").errors, "shape")
  test.contains(ingest(2, "nowhere").errors, "there is no file or folder nowhere")
  test.contains(ingest(2).errors, "SOURCE is missing")
end)

test.case("another number of images than expected ends the run with 3", function()
  test.contains(ingest(3, card(), "--exclude", "broken.jpg", "--expected", "30").errors, "30 of 32 items failed")
  test.contains(ingest(3, test.temp_dir()).errors, "is the card mounted?")
end)
