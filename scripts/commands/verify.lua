-- Compare a folder with what the platform holds
local script, ingest, json = require("script"), require("ingest"), require("json")
local find, show = require("lib.find"), require("lib.show")

local args = script.args({ "dir", "target", _reads = true, _doc = [[
Compare the files of a folder with what the platform holds, by size and checksum. Exit code 0 says that every file
of the folder is on the platform, whole; 3 that some are not. Nothing is changed.]],
  _example = "transect verify card/DCIM 'North quarry/May survey'",
  dir = { "string", value = "DIR", complete = "folders", doc = "folder, file or pattern" },
  target = { "string", value = "PROJECT[/MISSION]", complete = "names", doc = "where the files should be, by name or id" },
  include = { "strings", optional = true, value = "PATTERN", doc = "names to take" },
  exclude = { "strings", optional = true, value = "PATTERN", doc = "names to leave out" },
  json = { "boolean", doc = "print the result as JSON" } })

local project, mission = find.target(args.target)
local shown = 0
local result = ingest.verify({ source = args.dir, include = args.include, exclude = args.exclude, project = project, mission = mission,
  on_file = function(file)
    if args.json or file.verdict == "already_there" or file.verdict == "extra" then return end
    shown = shown + 1
    if shown <= 20 then print(file.verdict .. ": " .. file.name .. (file.cause and ": " .. file.cause or "")) end
  end })
local bad = result.different + result.missing
if args.json then
  print(json.encode(result))
else
  if shown > 20 then print(("… and %d more"):format(shown - 20)) end
  print(("%d files on the platform with the same checksum, %d different, %d missing"):format(result.already_there, result.different, result.missing))
  if result.extra > 0 then show.note(("%d datasets in %s are not in %s"):format(result.extra, args.target, args.dir)) end
end
script.fail_items(bad, result.already_there + bad)
