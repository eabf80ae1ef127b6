-- Ingest a drone flight, order its report, download the deliverables. Safe to
-- run again: it does what is missing.
--
--   transect run --local scripts/survey.lua testdata/flight
local sdk, query, script, path = require("sdk"), require("query"), require("script"), require("path")
local imagery, ingest, inspect = require("imagery"), require("ingest"), require("inspect")
local find, outcome = require("lib.find"), require("lib.outcome")

local args = script.args{ "folder", _doc = "Ingest a drone flight, order its report, download the deliverables.",
  folder = { "string", doc = "folder with the images of one flight" },
  project = { "string", optional = true,
    doc = "project, by name or id; Surveys when left out, created when missing" },
  create = { "boolean", doc = "create the project if it does not exist yet" },
  mission = { "string", optional = true, doc = "name of the mission; the folder's name and the day when left out" },
  out = { "string", default = "out", doc = "folder for the deliverables" } }
outcome.check_files{ args.folder }
script.lock("survey " .. path.abs(args.folder)) -- two runs at once would upload everything twice

-- Date, outline and number of images come from the photos. One without a
-- position is of no use to the survey.
local flown, paths, lost = imagery.scan(args.folder), {}, 0
for i, photo in ipairs(flown.photos) do paths[i] = photo.path end
for _, problem in ipairs(flown.problems) do
  if problem.cause == "no position" or #flown.photos == 0 then
    lost = lost + 1
    io.stderr:write("left out: " .. problem.name .. ": " .. problem.message .. "\n")
  else
    paths[#paths + 1] = problem.path -- the ingest judges it
  end
end
if #flown.photos == 0 then
  script.usage_error("no usable image in " .. args.folder, "name the folder with the photos of one flight")
end
local function fits() ingest.fits{ paths = paths, kind = "image" } end -- a budget refuses before anything is made
local project = find.project_or_new(args.project or "Surveys", args.create or not args.project, fits)
local name = args.mission or path.base(path.abs(args.folder)) .. " " .. (flown.date or "undated"):sub(1, 10)
local same = query.all(query.eq("project", project), query.eq("name", name))
if #sdk.missions.search{ filter = same, limit = 1 } == 0 then fits() end
local mission, created = sdk.missions.find_or_create{ project = project, name = name, survey_date = flown.date,
  number_of_images = #flown.photos, coordinates = flown.footprint, area = flown.area }
if created then find.made("mission " .. mission.name .. " in the project " .. project.name) end

-- Upload what is missing, and wait until the platform has read every image.
local images = query.all(query.eq("mission", mission), query.eq("type", "image"))
local sent = ingest.run{ paths = paths, kind = "image", project = project, mission = mission,
  flight = mission.flights[1] }
if sent.uploaded == 0 then print("nothing to upload: all " .. #flown.photos .. " images are there") end

-- Take the report made since the last image was read, or order a new one.
local newest = sdk.datasets.search{ filter = images, sort = { ["ingestion.date"] = -1 }, limit = 1 }
local version = sdk.analytics.describe_by_name("flight_report", { version = "1.x" })
local current = query.all(query.eq("mission", mission), query.eq("analytic", version),
  query.gte("creation_date", #newest > 0 and newest[1].ingestion.date or mission.creation_date),
  query.none_of("status", { "failed", "rejected", "cancelled" }))
local made = sdk.products.search{ filter = current, limit = 1 }
local product = made[1] or sdk.analytics.order{ name = "flight_report", version = "1.x", project = project,
  mission = mission, inputs = { mission = mission } }
for line in sdk.products.follow_logs(product) do print(line.timestamp:sub(12, 19) .. "  " .. line.record.message) end
local files = sdk.products.download_outputs(sdk.products.wait(product), { target_path = args.out, overwrite = true })
if #files > 0 then print(inspect.table(files, { "path", "bytes" })) end
local uploaded = script.rehearsal() and "would be uploaded" or "uploaded"
print(inspect.table({ { mission = name, images = #flown.photos, [uploaded] = sent.uploaded, bytes = sent.bytes,
  failed = sent.bad + lost, product = product.id } }, { "mission", "images", uploaded, "bytes", "failed", "product" }))
script.fail_items(sent.bad + lost, sent.total + lost)
