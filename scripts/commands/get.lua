-- Download the files of a project or a mission, and what analytics made of them
--
-- Uploads go to DIR/[MISSION/]NAME, in the folders they came from; deliverables to
-- DIR/deliverables/[MISSION/]ANALYTIC VERSION/DATASET/FILE. A file that is there
-- with the right checksum is not fetched again.
local sdk, script, query, json = require("sdk"), require("script"), require("query"), require("json")
local fs, path, hash = require("fs"), require("path"), require("hash")
local task, progress = require("task"), require("progress")
local find, show = require("lib.find"), require("lib.show")

local args = script.args({
  "target",
  "dir",
  _reads = true,
  _doc = [[
Download the files of a project or of a mission: uploads into DIR, one folder per mission of a project, and what
analytics made into DIR/deliverables. Every file is verified by its checksum. Safe to run again: it fetches what is
missing.]],
  _example = [[
transect get 'North quarry/May survey' may
transect get 'North quarry' quarry --only deliverables --analytic flight_report]],
  target = { "string", value = "PROJECT[/MISSION]", complete = "names", doc = "project or mission, by name or id" },
  dir = { "string", value = "DIR", complete = "folders", doc = "folder for the files, made when missing" },
  only = { "string", optional = true, choices = { "uploads", "deliverables" }, doc = "fetch only these" },
  match = { "string", optional = true, value = "TEXT", doc = "only missions whose name holds this text" },
  analytic = {
    "string",
    optional = true,
    value = "NAME",
    complete = "analytics",
    doc = "only deliverables that this analytic made",
  },
  replace = { "boolean", doc = "replace files of DIR that differ from the platform's" },
  all = { "boolean", doc = "deliverables of every product, not only of the newest of each analytic and mission" },
  json = { "boolean", doc = "print one JSON object per file" },
})

local project, mission = find.target(args.target)
local missions = {}
for _, m in ipairs(mission and { mission } or find.missions(project, args.match)) do
  missions[m.id] = m.name
end
local inside = mission and query.eq("mission", mission) or query.eq("project", project)

-- A name of the platform becomes one name of a folder, wherever it is used. One that is
-- longer than file systems allow is cut; its checksum keeps it apart from others.
local longest = 200
local function plain(name)
  local text = name:gsub('[%c/\\:*?"<>|]', "_"):gsub("^[%s.]+", ""):gsub("[%s.]+$", "")
  if #text > longest then
    local extension = text:match("%.%w+$") or ""
    extension = #extension <= 16 and extension or ""
    local cut = text:sub(1, longest - #extension):gsub("[\194-\244]?[\128-\191]*$", "")
    text = cut .. "~" .. hash.sha256(name):sub(1, 8) .. extension
  end
  return text == "" and "unnamed" or text
end
-- level is the folder of a mission, none where only one is fetched.
local function level(id)
  return mission and "." or missions[id] and plain(missions[id]) or "."
end
local function wanted(id)
  return missions[id] ~= nil or (not id and not mission and not args.match)
end

local files, taken, bytes, made, waiting = {}, {}, 0, {}, 0
local function add(dataset, folder)
  for _, c in ipairs(dataset.components or {}) do
    local name = plain(c.filename or c.name)
    if c.size then
      local target = path.join(folder, name)
      if taken[target:lower()] then
        target = path.join(folder, plain(dataset.name .. " " .. dataset.id), name)
      end
      taken[target:lower()] = true
      files[#files + 1] = { dataset = dataset, component = c, target = target }
      bytes = bytes + c.size
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
      add(dataset, path.join(folder, plain(dataset.name)))
    end
  end
end

-- What was uploaded, in the folders of its name; of one name the newest has it for itself.
if args.only ~= "deliverables" then
  for dataset in sdk.datasets.search_generator({ filter = inside, sort = { { name = 1 }, { creation_date = -1 } } }) do
    if not made[dataset.id] and wanted(dataset.mission) then
      local folder = path.join(args.dir, level(dataset.mission))
      local parts = dataset.name:match("^(.+)/[^/]+$")
      for part in (parts or ""):gmatch("[^/]+") do
        folder = path.join(folder, plain(part))
      end
      add(dataset, folder)
    end
  end
end
if waiting > 0 then
  show.note(show.count(waiting, "file") .. " never uploaded: transect put sends them again from where they came from")
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
  message = "another file is there, left as it is; --replace replaces it",
}
local _, stopped = try(task.map, files, function(file)
  if present(file) then
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
    if err ~= different and err.name == "DownloadError" then
      wrong[#wrong + 1] = file.dataset.id
    end
    bar:add({ failed = 1 })
    return verdict(file, "failed", err.message)
  end
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
  show.note("what was downloaded stays; the same command goes on with the rest")
  error(stopped, 0)
end
if #wrong > 0 then
  local hint = "  hint: try again; when that gives the same, the copy on the platform is damaged: "
    .. "transect rm %s, then transect put the original in '%s' again"
  show.note(hint:format(table.concat(wrong, " ", 1, math.min(#wrong, 20)), args.target))
end
script.fail_items(failed + waiting, #files + waiting)
