-- Keep a mission, or a project, up to date with a folder; for the night:
--
--   transect cron add sync '15 2 * * *' scripts/sync_folder.lua /data/site "Surveys"
--
-- New files go up, changed ones replace what was there, what is there is left
-- alone. A file that was just written is taken the next time. Nothing is ever
-- deleted on the platform because it is gone from the folder.
local sdk, script, ingest = require("sdk"), require("script"), require("ingest")
local time, path = require("time"), require("path")
local find, outcome = require("lib.find"), require("lib.outcome")

local args = script.args({ "folder", "project", _doc = "Keep a mission, or a project, up to date with a folder.",
  folder = { "string", doc = "folder to send" },
  project = { "string", doc = "project, by name or id" },
  create = { "boolean", doc = "create the project if it does not exist yet" },
  mission = { "string", optional = true, doc = "mission of the project, by name or id" },
  exclude = { "strings", default = { "**/.*", "**/*.part", "**/*.tmp", "**/Thumbs.db" },
    doc = "patterns of names to leave out" },
  settle = { "integer", default = 60,
    doc = "leave out files changed in the last so many seconds: they may still be written" },
  allow_empty = { "boolean", doc = "a folder without files is not an error" },
  report = { "string", optional = true, doc = "file for the verdict on each file, .json or .csv" },
  dry_run = { "boolean", doc = "only report what would be done" } })

outcome.check_report(args.report)
outcome.check_files({ args.folder })
script.lock("sync " .. path.abs(args.folder))
local project = find.project_or_new(args.project, args.create, function()
  ingest.fits{ source = args.folder, exclude = args.exclude }
end)
local mission = args.mission and find.mission(project, args.mission) or nil
local source = { source = args.folder, project = project, mission = mission, exclude = args.exclude }

local options, young, settled = {}, 0, time.now() - args.settle
for k, v in pairs(source) do options[k] = v end
options.replace, options.verify, options.report, options.dry_run = true, not args.dry_run, args.report, args.dry_run
options.filter = function(file)
  if time.parse(file.modified) <= settled then return true end
  young = young + 1
  return false
end
local would = (args.dry_run or script.rehearsal()) and "would be " or ""
options.on_file = function(file)
  if file.verdict == "uploaded" then print(would .. "uploaded", file.name, file.cause or "") end
end
local result = ingest.run(options)
if young > 0 then
  local files = young == 1 and "1 file was" or young .. " files were"
  print(("%s changed within the last %d s: left for the next run"):format(files, args.settle))
end
if result.total > 0 or young == 0 and not args.allow_empty then outcome.finish(result, args.folder) end
