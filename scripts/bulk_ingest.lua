-- Ingest files of any kind and report the outcome of each:
--
--   transect run --local scripts/bulk_ingest.lua testdata/flight --report ingest.csv
--
-- Run it as often as you like: what is there is not sent again, what was begun is completed.
-- What failed can be tried again alone:
--
--   transect run --local scripts/bulk_ingest.lua --retry-failed ingest.csv --report again.csv
local sdk, script, ingest = require("sdk"), require("script"), require("ingest")
local find, outcome = require("lib.find"), require("lib.outcome")

local args = script.args({ "source", _doc = "Ingest files of any kind and report the outcome of each.",
  source = { "string", optional = true, doc = "folder, file, or pattern such as 'card/**/*.jpg'" },
  project = { "string", optional = true,
    doc = "project, by name or id; Surveys when left out, created when missing" },
  mission = { "string", optional = true, doc = "mission of the project, by name or id" },
  create = { "boolean", doc = "create the project if it does not exist yet" },
  kind = { "string", optional = true, choices = { "image", "raster", "vector", "mesh", "pcl", "file" },
    doc = "type of all datasets; detected from the contents when left out" },
  include = { "strings", optional = true, doc = "patterns of names to include" },
  exclude = { "strings", optional = true, doc = "patterns of names to leave out" },
  min_size = { "integer", optional = true, doc = "minimum size of a file in bytes" },
  max_size = { "integer", optional = true, doc = "maximum size of a file in bytes" },
  newer_than = { "string", optional = true, doc = "only files changed after this time: 2026-05-31 or RFC 3339" },
  expected = { "integer", optional = true,
    doc = "expected number of images; any other number ends the run with exit code 3" },
  report = { "string", optional = true, doc = "file for the verdict on each file, .json or .csv" },
  retry_failed = { "string", optional = true,
    doc = "report of an earlier run: take the files that need attention in it, instead of a source" },
  check = { "string", default = "quick", choices = { "quick", "deep" },
    doc = "quick reads header and end of each file, deep decodes all pictures and rasters" },
  strict = { "boolean", doc = "check all files first, and send none when one is bad" },
  damaged = { "string", default = "skip", choices = { "skip", "send" },
    doc = "what to do with damaged and incomplete files; the run ends with exit code 3 either way" },
  duplicates = { "string", default = "skip", choices = { "skip", "send" },
    doc = "what to do with files whose content is sent, or on the platform, under another name" },
  no_wait = { "boolean", doc = "do not wait until the platform has read the files" },
  verify = { "boolean", doc = "compare checksums with the platform at the end" },
  replace = { "boolean", doc = "a changed file replaces its earlier state" },
  preview = { "boolean", doc = "only report what would be done" } })
if not args.source and not args.retry_failed then
  script.usage_error("SOURCE is missing: the files to ingest",
    "name a folder, or the report of an earlier run with --retry-failed")
end
outcome.check_report(args.report)
outcome.check_files({ args.source })
local chosen = { source = args.source, kind = args.kind, include = args.include, exclude = args.exclude,
  min_size = args.min_size, max_size = args.max_size, newer_than = args.newer_than, damaged = args.damaged,
  duplicates = args.duplicates }

-- Where the datasets belong. A preview makes no project.
local project, mission
local default = { name = { ["$eq"] = "Surveys" } }
if not args.preview or args.project or #sdk.projects.search({ filter = default, limit = 1 }) > 0 then
  local create = not args.preview and (args.create or not args.project)
  project = find.project_or_new(args.project or "Surveys", create, args.source and function() ingest.fits(chosen) end)
end
if args.mission then mission = find.mission(project, args.mission) end

local check = args.check == "deep" and "deep" or true
if args.strict then check = check == "deep" and "strict deep" or "strict" end
local options = { retry_failed = args.retry_failed, expected = args.expected,
  project = project, mission = mission, flight = mission and mission.flights and mission.flights[1],
  company = not project and sdk.users.describe().company or nil, check = check,
  wait = not args.no_wait, verify = args.verify, replace = args.replace, dry_run = args.preview, report = args.report }
for k, v in pairs(chosen) do options[k] = v end
local result = ingest.run(options)

local missing = args.expected and args.expected - result.preflight.images or 0
script.fail_items(result.bad + math.max(missing, 0), result.total + math.max(missing, 0))
if missing < 0 then script.exit(3) end
if args.source then outcome.finish(result, args.source) end
