-- Send files to a project or a mission
local script, ingest, json, fs = require("script"), require("ingest"), require("json"), require("fs")
local find, flight, outcome = require("lib.find"), require("lib.flight"), require("lib.outcome")

local args = script.args({
  "files",
  "target",
  _doc = [[
Send files and folders to a project, or to a mission of it. Safe to run again: what is there already is not sent (by
size and modification time of the earlier run, or else by checksum), and what was begun is completed. Damaged files are
listed and left out. Before formatting a memory card compare all checksums: --verify, or transect verify.]],
  _example = [[
transect put card/DCIM 'North quarry/May survey' --create
transect put *.las outline.gpkg 'North quarry'
transect put card/DCIM 'North quarry/May survey' --report card.csv]],
  files = {
    "strings",
    value = "FILES",
    complete = "files",
    doc = "files, folders and patterns such as 'card/**/*.jpg'",
  },
  target = { "string", value = "PROJECT[/MISSION]", complete = "names", doc = "where they belong, by name or id" },
  create = { "boolean", doc = "create the project and the mission if they do not exist yet" },
  kind = {
    "string",
    optional = true,
    choices = { "image", "raster", "vector", "mesh", "pcl", "file" },
    doc = "type of all datasets; detected from the contents when left out",
  },
  include = { "strings", optional = true, value = "PATTERN", doc = "names to include" },
  exclude = { "strings", optional = true, value = "PATTERN", doc = "names to leave out" },
  check = {
    "string",
    default = "quick",
    choices = { "quick", "deep" },
    doc = "quick reads header and end of each file, deep decodes all pictures and rasters",
  },
  damaged = {
    "string",
    default = "skip",
    choices = { "skip", "send" },
    doc = "what to do with damaged and incomplete files",
  },
  replace = { "boolean", doc = "a changed file replaces its earlier state" },
  verify = { "boolean", doc = "compare size and checksum of every file with the platform at the end" },
  report = {
    "string",
    optional = true,
    value = "FILE",
    complete = "files",
    doc = "write the outcome of each file, .json or .csv",
  },
  json = { "boolean", doc = "print the result as JSON" },
})

outcome.check_report(args.report)
local swapped = fs.exists(args.target) and "the project comes last: transect put FILES... PROJECT" or nil
outcome.check_files(args.files, swapped)
local chosen = { paths = args.files, kind = args.kind, include = args.include, exclude = args.exclude }
local project, mission = find.target(args.target, args.create and function(p, name)
  return flight.mission(p, name, chosen)
end, "--create makes a new one", function()
  ingest.fits({
    paths = args.files,
    kind = args.kind,
    include = args.include,
    exclude = args.exclude,
    damaged = args.damaged,
  })
end)

local result = ingest.run({
  paths = args.files,
  kind = args.kind,
  include = args.include,
  exclude = args.exclude,
  project = project,
  mission = mission,
  flight = mission and mission.flights and mission.flights[1],
  check = args.check == "deep" and "deep" or true,
  damaged = args.damaged,
  replace = args.replace,
  verify = args.verify,
  report = args.report,
})
if args.json then
  result.files, result.failures = nil, json.list(result.failures)
  print(json.encode(result))
end
outcome.finish(result, table.concat(args.files, ", "))
