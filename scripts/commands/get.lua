-- Download the files of a project or a mission, and the deliverables of analytics
--
-- Uploads go to DIR/[MISSION/]NAME, in the folders they came from; deliverables to
-- DIR/deliverables/[MISSION/]ANALYTIC VERSION/DATASET/FILE. A file that is there
-- with the right checksum is not fetched again.
local sdk, script, query, json = require("sdk"), require("script"), require("query"), require("json")
local fs, path, hash = require("fs"), require("path"), require("hash")
local task, progress = require("task"), require("progress")
local find, show, outcome = require("lib.find"), require("lib.show"), require("lib.outcome")

local args = script.args({
  "target",
  "dir",
  _reads = true,
  _doc = [[
Download the files of a project or of a mission: uploads into DIR, one folder per mission of a project, and the
deliverables of analytics into DIR/deliverables. Every file is verified by its checksum. Safe to run again: it fetches
what is missing.]],
  _example = [[
transect get 'North quarry/May survey' may
transect get 'North quarry' quarry --only deliverables --analytic flight_report]],
  target = { "string", value = "PROJECT[/MISSION]", complete = "names", doc = "project or mission, by name or id" },
  dir = { "string", value = "DIR", complete = "folders", doc = "folder for the files, created when missing" },
  only = { "string", optional = true, choices = { "uploads", "deliverables" }, doc = "fetch only these" },
  match = { "string", optional = true, value = "TEXT", doc = "only missions whose name contains this text" },
  analytic = {
    "string",
    optional = true,
    value = "NAME",
    complete = "analytics",
    doc = "only deliverables that this analytic made",
  },
  replace = { "boolean", doc = "replace files of DIR that differ from the platform's" },
  all = { "boolean", doc = "deliverables of every product, not only of the newest of each analytic and mission" },
  metadata = { "boolean", doc = "write what the platform knows of each file beside it, to FILE.metadata.json" },
  json = { "boolean", doc = "print one JSON object per file" },
})

local project, mission = find.target(args.target)
local missions = {}
for _, m in ipairs(mission and { mission } or find.missions(project, args.match)) do
  missions[m.id] = m.name
end
local inside = mission and query.eq("mission", mission) or query.eq("project", project)

-- A name of the platform becomes one name of a folder, wherever it is used: as it is where the system allows that.
-- One that is longer than file systems allow is cut; its checksum keeps it apart from others. What a name became is
-- said once.
local longest = 255
local forbidden = path.join("a", "b") == "a/b" and "[%c/]" or '[%c/\\:*?"<>|]'
local changed, changes = {}, 0
local function plain(name)
  local text = name:gsub(forbidden, "_")
  if forbidden ~= "[%c/]" then
    text = text:gsub("^[%s.]+", ""):gsub("[%s.]+$", "")
  end
  if #text > longest then
    local extension = text:match("%.%w+$") or ""
    extension = #extension <= 16 and extension or ""
    local cut = text:sub(1, longest - 9 - #extension):gsub("[\194-\244]?[\128-\191]*$", "")
    text = cut .. "~" .. hash.sha256(name):sub(1, 8) .. extension
  end
  text = (text:gsub("^%.?%.?$", "unnamed"))
  if text ~= name and not changed[name] then
    changed[name], changes = text, changes + 1
  end
  return text
end
-- under joins the names of a path of the platform to a folder.
local function under(folder, names)
  for name in names:gmatch("[^/]+") do
    folder = path.join(folder, plain(name))
  end
  return folder
end
-- level is the folder of a mission, none where only one is fetched.
local function level(id)
  return mission and "." or missions[id] and plain(missions[id]) or "."
end
local function wanted(id)
  return missions[id] ~= nil or (not id and not mission and not args.match)
end

-- told_apart reports whether the system tells upper case from lower case in names.
local function told_apart()
  local at = path.abs(args.dir)
  while not fs.exists(at) and path.dir(at) ~= at do
    at = path.dir(at)
  end
  local other = at:upper() == at and at:lower() or at:upper()
  return other == at or not try(fs.exists, other)
end
local exact = told_apart()
local files, taken, bytes, made, waiting = {}, {}, 0, {}, 0
-- add notes the components of a dataset. They go to a folder; those that came from another one than the main file
-- to where they were in it.
local function add(dataset, folder, top)
  local parts = (dataset.properties and dataset.properties.transect or {}).parts or {}
  for _, c in ipairs(dataset.components or {}) do
    if c.size then
      local into = parts[c.name] and under(top, parts[c.name]:match("^(.*)/") or "") or folder
      local target = path.join(into, plain(c.filename or c.name))
      local there = taken[exact and target or target:lower()]
      if there and not (c.checksum and c.checksum == there.checksum) then
        local stem, extension = target:match("^(.*[^/])(%.[^./]*)$")
        target = (stem or target) .. " " .. dataset.id .. (extension or "")
      end
      if not there or there.checksum ~= c.checksum then -- two datasets may share a file, such as a .prj
        taken[exact and target or target:lower()] = c
        files[#files + 1] = { dataset = dataset, component = c, target = target }
        bytes = bytes + c.size
      end
    elseif c.status == "pending" then
      waiting = waiting + 1
    end
  end
end

-- What analytics made, newest first.
local analytics, seen = {}, {}
local available = query.all(inside, query.eq("status", "available"))
for product in sdk.products.search_generator({ filter = available, sort = { creation_date = -1 } }) do
  for _, id in ipairs(product.outputs or {}) do
    made[id] = true
  end
  local analytic = analytics[product.analytic] or sdk.analytics.describe(product.analytic)
  analytics[product.analytic] = analytic
  local key = tostring(product.mission) .. " " .. analytic.name
  if
    args.only ~= "uploads"
    and wanted(product.mission)
    and (not args.analytic or args.analytic == analytic.name)
    and (args.all or not seen[key])
    and #(product.outputs or {}) > 0
  then
    seen[key] = true
    local folder = path.join(
      args.dir,
      "deliverables",
      level(product.mission),
      plain(analytic.name .. " " .. analytic.version),
      args.all and product.id or "."
    )
    for _, dataset in ipairs(sdk.datasets.describe(product.outputs)) do
      add(dataset, path.join(folder, plain(dataset.name)), folder)
    end
  end
end

-- What was uploaded, in the folders of its name; of one name the newest has it for itself.
if args.only ~= "deliverables" then
  for dataset in sdk.datasets.search_generator({ filter = inside, sort = { { name = 1 }, { creation_date = -1 } } }) do
    if not made[dataset.id] and wanted(dataset.mission) then
      local top = path.join(args.dir, level(dataset.mission))
      add(dataset, under(top, dataset.name:match("^(.+)/[^/]+$") or ""), top)
    end
  end
end
for name, text in pairs(changed) do
  if changes <= 20 then
    show.note(("%q cannot be a file name here: saved as %q"):format(name, text))
  end
end
if changes > 20 then
  show.note(show.count(changes, "name") .. " cannot be file names here, and are changed")
end
if waiting > 0 then
  show.note(show.count(waiting, "file") .. " never uploaded: transect put sends them again from their source")
end
if #files == 0 then
  show.note("there is nothing to download in " .. args.target)
  script.fail_items(waiting)
  script.exit()
end
if fs.is_file(args.dir) then
  script.usage_error(args.dir .. " is a file", "name a folder; it is made when missing")
end

local failed, fetched, there, wrong = 0, 0, 0, {}
local bar = progress.start({ label = "download", files = #files, bytes = bytes, transfers = true })
local function verdict(file, what, cause)
  if args.json then
    print(json.encode({
      path = file.target,
      size = file.component.size,
      dataset = file.dataset.id,
      verdict = what,
      cause = cause,
    }))
  end
end
-- present reports whether a file is there as the platform has it.
local function present(file)
  if not fs.is_file(file.target) then
    return false
  end
  if file.component.checksum then
    return hash.md5_file(file.target) == file.component.checksum
  end
  return fs.stat(file.target).size == file.component.size
end
local different = {
  name = "DownloadError",
  message = "another file is there, and was kept; --replace replaces it",
}
-- describe writes the record of a file's dataset beside it.
local function describe(file)
  if args.metadata and not script.rehearsal() then
    fs.write(file.target .. ".metadata.json", json.pretty(file.dataset))
  end
end
local _, stopped = try(task.map, files, function(file)
  if present(file) then
    describe(file)
    there = there + 1
    bar:add({ files = 1, bytes = file.component.size })
    return verdict(file, "already_there")
  end
  local _, err
  if fs.exists(file.target) and not args.replace then
    err = different
  else
    _, err = try(sdk.datasets.download_component, file.dataset, {
      component = file.component.name,
      target_path = path.dir(file.target),
      target_name = path.base(file.target),
      overwrite = true,
      md5hash = file.component.checksum,
    })
  end
  if err and err.name ~= "DownloadError" and err.name ~= "ResponseError" then
    error(err, 0) -- not this file's fault: stop
  end
  if err then
    failed = failed + 1
    show.note("failed: " .. file.target .. ": " .. err.message)
    if outcome.damaged_there(err) then
      wrong[#wrong + 1] = file.dataset.id
    end
    bar:add({ failed = 1 })
    return verdict(file, "failed", err.message)
  end
  describe(file)
  fetched = fetched + 1
  bar:add({ files = 1 })
  verdict(file, script.rehearsal() and "would_be_downloaded" or "downloaded")
end, { workers = 8 })
bar:finish()
if not args.json then
  local counts = "%s, %s in %s: %d %sdownloaded, %d already there, %d failed"
  local would = script.rehearsal() and "would be " or ""
  print(counts:format(show.count(#files, "file"), show.size(bytes), args.dir, fetched, would, there, failed))
end
if stopped then
  show.note("what was downloaded is kept; the same command continues with the rest")
  error(stopped, 0)
end
if #wrong > 0 then
  local hint = "  hint: the copy on the platform is damaged, as the same arrived twice: transect rm %s, then "
    .. "transect put the original in '%s' again"
  show.note(hint:format(table.concat(wrong, " ", 1, math.min(#wrong, 20)), args.target))
end
script.fail_items(failed + waiting, #files + waiting)
