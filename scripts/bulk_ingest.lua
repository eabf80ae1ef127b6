-- Ingest files of any kind and report what became of each:
--
--   transect run --local scripts/bulk_ingest.lua testdata/flight --report ingest.csv
--
-- Run it as often as you like: what is there is skipped, what was begun is completed. What failed can be tried again alone:
--
--   transect run --local scripts/bulk_ingest.lua --retry-failed ingest.csv --report again.csv
local sdk, script, ingest, inspect = require("sdk"), require("script"), require("ingest"), require("inspect")

local args = script.args({ "source", _doc = "Ingest files of any kind and report what became of each.",
  source = { "string", optional = true, doc = "folder, file, or pattern such as 'card/**/*.jpg'" },
  project = { "string", default = "Surveys", doc = "name of the project; it is made when there is none" },
  mission = { "string", optional = true, doc = "name of a mission of the project" },
  kind = { "string", optional = true, choices = { "image", "raster", "vector", "mesh", "pcl", "file" }, doc = "type of all datasets; found out from the contents when left out" },
  include = { "strings", optional = true, doc = "patterns of names to take" },
  exclude = { "strings", optional = true, doc = "patterns of names to leave out" },
  min_size = { "integer", optional = true, doc = "least bytes of a file" },
  max_size = { "integer", optional = true, doc = "most bytes of a file" },
  newer_than = { "string", optional = true, doc = "only files changed after that moment: 2026-05-31 or RFC 3339" },
  expected = { "integer", optional = true, doc = "how many images there should be" },
  report = { "string", optional = true, doc = "file for the outcome of each file, .json or .csv" },
  retry_failed = { "string", optional = true, doc = "report of an earlier run: take what failed in it, instead of a source" },
  strict = { "boolean", doc = "look at all files first, and send none when one is wrong" },
  verify = { "boolean", doc = "compare checksums with the platform in the end" },
  replace = { "boolean", doc = "a changed file takes the place of its earlier state" },
  preview = { "boolean", doc = "only tell what would be done" } })
if not args.source and not args.retry_failed then error("name a SOURCE, or the report of an earlier run with --retry-failed", 0) end
local function is(value) return { ["$eq"] = value } end

-- Where the datasets belong.
local company = sdk.users.describe().company
local project = sdk.projects.search({ filter = { name = is(args.project) }, limit = 1 })[1]
if not project and not args.preview then project = sdk.projects.create(args.project, company) end
local mission
if args.mission then
  mission = project and sdk.missions.search({ filter = { project = is(project.id), name = is(args.mission) }, limit = 1 })[1]
  if not mission then error("project " .. args.project .. " has no mission " .. args.mission, 0) end
end

local result = ingest.run({ source = args.source, retry_failed = args.retry_failed, kind = args.kind, include = args.include, exclude = args.exclude,
  min_size = args.min_size, max_size = args.max_size, newer_than = args.newer_than, expected = args.expected,
  project = project, mission = mission, flight = mission and mission.flights and mission.flights[1], company = not project and company or nil,
  check = args.strict and "strict" or true, verify = args.verify, replace = args.replace, dry_run = args.preview, report = args.report })

-- What is odd, what failed, and what was done.
for _, p in ipairs(result.preflight.problems) do
  if p.severity ~= "error" then print((p.name and p.name ~= "" and p.name .. ": " or "") .. p.message) end
end
for _, file in ipairs(result.failures) do print(file.verdict .. ": " .. file.name .. ": " .. file.cause) end
if args.preview then print("nothing was sent; this would be done:") end
result.seconds = math.floor(result.seconds * 10 + 0.5) / 10
print(inspect.table({ result }, { "total", "uploaded", "already_there", "bad", "bytes", "seconds" }))
script.fail_items(result.bad, result.total)
