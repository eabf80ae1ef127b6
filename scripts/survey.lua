-- Ingest a drone flight, order its report, fetch what it makes:
--
--   transect run --local scripts/survey.lua testdata/flight
--
-- Run it as often as you like: it finds what is there and does the rest.
local sdk, script, imagery, ingest = require("sdk"), require("script"), require("imagery"), require("ingest")
local task, inspect = require("task"), require("inspect")
local fs, path, hash = require("fs"), require("path"), require("hash")

local args = script.args({ "folder", _doc = "Ingest a drone flight, order its report, fetch what it makes.",
  folder = { "string", doc = "folder with the images of one flight" },
  project = { "string", default = "Surveys", doc = "project the flight belongs to" },
  mission = { "string", optional = true, doc = "name of the mission; the folder's name and the day when left out" },
  out = { "string", default = "out", doc = "folder for the deliverables" } })
script.lock("survey " .. path.abs(args.folder)) -- two runs at once would send everything twice
local started = os.time()
local function is(value) return { ["$eq"] = value } end

-- What the images say of themselves: when, where, how many. Nobody types coordinates.
local flown = imagery.scan(args.folder)
for _, p in ipairs(flown.problems) do print("left out: " .. p.name .. ": " .. p.message) end
if #flown.photos == 0 then error("no usable image in " .. args.folder, 0) end

-- The project and the mission, found or made. A mission with images gets a flight.
local project = sdk.projects.search({ filter = { name = is(args.project) }, limit = 1 })[1]
  or sdk.projects.create(args.project, sdk.users.describe().company)
local name = args.mission or path.base(path.abs(args.folder)) .. " " .. (flown.date or "undated"):sub(1, 10)
local mission = sdk.missions.search({ filter = { project = is(project.id), name = is(name) }, limit = 1 })[1]
  or select(2, sdk.missions.create({ project = project, name = name, survey_date = flown.date or require("time").now(),
    number_of_images = #flown.photos, coordinates = flown.footprint, area = flown.area }))

-- The images go straight to storage, many at a time; those that are there are found and skipped.
local paths, failed = {}, #flown.problems
for i, photo in ipairs(flown.photos) do paths[i] = photo.path end
local sent = ingest.run({ paths = paths, kind = "image", project = project, mission = mission, flight = mission.flights[1] })
for _, file in ipairs(sent.failures) do print("failed: " .. file.name .. ": " .. file.cause) end
local uploaded = sent.created + sent.resumed
if sent.skipped == #paths then print("nothing to upload: all " .. #paths .. " images are there") end

-- The platform reads each image; wait for the last one.
local images = { mission = is(mission.id), type = is("image") }
local running = { mission = images.mission, type = images.type, ["ingestion.status"] = is("running") }
while sdk.datasets.search({ filter = running, limit = 1, return_total = true }).total > 0 do task.sleep(0.2) end

-- The report made since the last image came in, or a new one, and its log.
local newest = sdk.datasets.search({ filter = images, sort = { ["ingestion.date"] = -1 }, limit = 1 })[1]
local version = sdk.analytics.describe_by_name("flight_report", { version = "1.x" })
local product = newest and newest.ingestion.date and sdk.products.search({ limit = 1, filter = { mission = is(mission.id),
    analytic = is(version.id), creation_date = { ["$gte"] = newest.ingestion.date }, status = { ["$nin"] = { "failed", "rejected", "cancelled" } } } })[1]
  or sdk.analytics.order({ name = "flight_report", version = "1.x", project = project, mission = mission, inputs = { mission = mission } })
for line in sdk.products.follow_logs(product) do print(line.timestamp:sub(12, 19) .. "  " .. line.record.message) end
product = sdk.products.describe(product)
if product.status ~= "available" then error("the report ended as " .. product.status, 0) end

-- What it made, and what was done.
local rows = {}
for _, dataset in ipairs(sdk.datasets.describe(product.outputs or {})) do
  for _, c in ipairs(dataset.components) do
    local file = path.join(args.out, c.filename)
    if not fs.exists(file) or hash.md5_file(file) ~= c.checksum then
      sdk.datasets.download_component(dataset, { component = c.name, target_path = args.out, overwrite = true, md5hash = c.checksum })
    end
    rows[#rows + 1] = { file = file, bytes = c.size, dataset = dataset.name }
  end
end
print(inspect.table(rows, { "file", "bytes", "dataset" }))
print(inspect.table({ { mission = name, images = #flown.photos, uploaded = uploaded, bytes = sent.bytes, failed = failed + sent.failed,
  product = product.id, seconds = os.time() - started } }, { "mission", "images", "uploaded", "bytes", "failed", "product", "seconds" }))
script.fail_items(failed + sent.failed, #paths + #flown.problems)
