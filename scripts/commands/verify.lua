-- Compare a folder with what the platform holds
local script, ingest, json = require("script"), require("ingest"), require("json")
local find, show, outcome = require("lib.find"), require("lib.show"), require("lib.outcome")

local args = script.args({
  "dir",
  "target",
  _reads = true,
  _doc = [[
Compare the files of a folder with what the platform holds, by size and checksum. Exit code 0 says that every file
of the folder is on the platform, whole; 3 that some are not. Nothing is changed.]],
  _example = "transect verify card/DCIM 'North quarry/May survey'",
  dir = { "string", value = "DIR", complete = "folders", doc = "folder, file or pattern" },
  target = {
    "string",
    value = "PROJECT[/MISSION]",
    complete = "names",
    doc = "where the files should be, by name or id",
  },
  include = { "strings", optional = true, value = "PATTERN", doc = "names to take" },
  exclude = { "strings", optional = true, value = "PATTERN", doc = "names to leave out" },
  json = { "boolean", doc = "print the result as JSON" },
})

local project, mission = find.target(args.target)
local shown, fine = 0, { already_there = true, duplicate = true, left_out = true, extra = true }
local function label(verdict)
  return verdict == "refused" and "refused by the platform" or (verdict:gsub("_", " "))
end
local result = ingest.verify({
  source = args.dir,
  include = args.include,
  exclude = args.exclude,
  project = project,
  mission = mission,
  on_file = function(file)
    if args.json or fine[file.verdict] then
      return
    end
    shown = shown + 1
    if shown <= 20 then
      print(label(file.verdict) .. ": " .. file.name .. (file.cause and ": " .. file.cause or ""))
    end
  end,
})
if args.json then
  print(json.encode(result))
else
  if shown > 20 then
    print(("… and %d more"):format(shown - 20))
  end
  local counts = { result.already_there .. " on the platform with the same checksum" }
  local others = { "duplicate", "left_out", "different", "missing", "refused", "damaged", "incomplete", "failed" }
  for _, verdict in ipairs(others) do
    if result[verdict] > 0 then
      counts[#counts + 1] = result[verdict] .. " " .. label(verdict)
    end
  end
  print(table.concat(counts, ", "))
  if result.extra > 0 then
    show.note(("%d datasets in %s are not in %s"):format(result.extra, args.target, args.dir))
  end
end
outcome.finish(result, args.dir)
