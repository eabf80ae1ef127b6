-- Compare a folder with what the platform holds
local sdk, script, ingest, json = require("sdk"), require("script"), require("ingest"), require("json")
local fs, task, progress, query = require("fs"), require("task"), require("progress"), require("query")
local find, show, outcome = require("lib.find"), require("lib.show"), require("lib.outcome")

local args = script.args({
  "dir",
  "target",
  _reads = true,
  _doc = [[
Compare the files of a folder with what the platform holds, by size and checksum. Exit code 0 means that every file of
the folder is complete on the platform, except those that put leaves out as well and the last line counts (hidden
files, links, system folders); 3 that some are not. Nothing is changed. The checksums are those that the platform
computed when it received the files; with --download every file is read back and compared as well.]],
  _example = [[
transect verify card/DCIM 'North quarry/May survey'
transect verify card/DCIM 'North quarry/May survey' --download]],
  dir = { "string", value = "DIR", complete = "folders", doc = "folder, file or pattern" },
  target = {
    "string",
    value = "PROJECT[/MISSION]",
    complete = "names",
    doc = "where the files should be, by name or id",
  },
  kind = {
    "string",
    optional = true,
    choices = { "image", "raster", "vector", "mesh", "pcl", "file" },
    doc = "type of all datasets, as given to put",
  },
  include = { "strings", optional = true, value = "PATTERN", doc = "names to include" },
  exclude = { "strings", optional = true, value = "PATTERN", doc = "names to leave out" },
  download = { "boolean", doc = "read every file back from the platform as well, and compare what arrives" },
  json = { "boolean", doc = "print the result as JSON" },
})

outcome.check_files({ args.dir })
local project, mission = find.target(args.target)
local shown, fine = 0, { already_there = true, duplicate = true, left_out = true, extra = true }
local present = {} -- what --download reads back
local function label(verdict)
  return verdict == "refused" and "refused by the platform" or (verdict:gsub("_", " "))
end
local function report(file)
  if args.json or fine[file.verdict] then
    return
  end
  shown = shown + 1
  if shown <= 20 then
    print(label(file.verdict) .. ": " .. file.name .. (file.cause and ": " .. file.cause or ""))
  end
end
local result = ingest.verify({
  source = args.dir,
  kind = args.kind,
  include = args.include,
  exclude = args.exclude,
  project = project,
  mission = mission,
  on_file = function(file)
    if args.download and file.dataset and file.verdict == "already_there" then
      present[#present + 1] = file
    end
    report(file)
  end,
})

-- read_back downloads the components of a dataset, and returns the error of the
-- first that arrives with another content.
local function read_back(id)
  local dir = fs.temp_dir()
  for _, c in ipairs(sdk.datasets.describe(id).components or {}) do
    if c.size then
      local file, err = try(sdk.datasets.download_component, id, {
        component = c.name,
        target_path = dir,
        md5hash = c.checksum,
      })
      if err and err.name ~= "DownloadError" and err.name ~= "ResponseError" then
        error(err, 0)
      elseif err then
        return err
      end
      fs.remove(file)
    end
  end
end
if #present > 0 then
  local bar = progress.start({ label = "read back", files = #present, transfers = true })
  task.map(present, function(file)
    local err = read_back(file.dataset)
    bar:add({ files = 1, failed = err and 1 or 0 })
    if err then
      file.verdict = err.name == "DownloadError" and "different" or "failed"
      file.cause = "reading it back failed: " .. err.message
      if outcome.damaged_there(err) then
        file.cause = "read back twice with the same wrong content: its copy on the platform is damaged: transect rm "
          .. file.dataset .. ", then transect put it again"
      end
      result.already_there, result.bad = result.already_there - 1, result.bad + 1
      result[file.verdict] = result[file.verdict] + 1
      result.findings[#result.findings + 1], result.ok = file, false
      report(file)
    end
  end, { workers = 8 })
  bar:finish()
end
-- elsewhere says in which missions of the project files are that it does not have itself.
local function elsewhere()
  local names, missions, found = {}, {}, 0
  for _, file in ipairs(result.findings) do
    if file.verdict == "missing" and #names < 20 then
      names[#names + 1] = file.name
    end
  end
  if mission or #names == 0 then
    return
  end
  local filter = query.all(query.eq("project", project), query.one_of("name", names), query.exists("mission", true))
  for _, dataset in ipairs(sdk.datasets.search({ filter = filter, limit = 100 })) do
    found, missions[dataset.mission] = found + 1, true
  end
  for id in pairs(missions) do
    local place = args.target .. "/" .. sdk.missions.describe(id).name
    local count = show.count(found, "file") .. " of these names "
    show.note(count .. "are in a mission: transect verify " .. args.dir .. " '" .. place .. "'")
    return
  end
end
if args.json then
  print(json.encode(result))
else
  if shown > 20 then
    print(("… and %d more"):format(shown - 20))
  end
  local read = args.download and ", read back" or ""
  local counts = { result.already_there .. " on the platform with the same checksum" .. read }
  local others = { "duplicate", "left_out", "different", "missing", "refused", "damaged", "incomplete", "failed" }
  for _, verdict in ipairs(others) do
    if result[verdict] > 0 then
      counts[#counts + 1] = result[verdict] .. " " .. label(verdict)
    end
  end
  print(table.concat(counts, ", "))
  elsewhere()
  if result.extra > 0 then
    show.note(("%s in %s without a file in %s"):format(show.count(result.extra, "dataset"), args.target, args.dir))
  end
end
outcome.finish(result, args.dir)
