-- Bring a STAC catalogue on the platform: its collections become missions, its items datasets
--
-- Each dataset says in properties.stac which item it comes from, so that a second run finds it,
-- completes what was begun and creates nothing twice.
local sdk, script, query, json = require("sdk"), require("script"), require("query"), require("json")
local fs, path, hash = require("fs"), require("path"), require("hash")
local task, progress = require("task"), require("progress")
local find, show, export = require("lib.find"), require("lib.show"), require("lib.export")

local args = script.args({
  "dir",
  "project",
  _doc = [[
Bring a static STAC catalogue from a folder on the platform: each collection becomes a mission, each item a dataset with
the files of its assets, which are verified by size and checksum. Datasets that transect export wrote with --files come
back as they were, in missions without flights; of other catalogues, names, places, times and files are taken. Safe to
run again: what is there is not created twice, and what was begun is completed.]],
  _example = "transect import catalogue 'North quarry' --create",
  dir = { "string", value = "DIR", complete = "folders", doc = "folder of the catalogue, with catalog.json" },
  project = { "string", value = "PROJECT", complete = "names", doc = "project to import to, by name or id" },
  create = { "boolean", doc = "create the project if it does not exist yet" },
  json = { "boolean", doc = "print one JSON object per item" },
})

local function value(v)
  return v ~= json.null and v or nil
end

if path.base(args.dir) == "catalog.json" and fs.is_file(args.dir) then
  args.dir = path.dir(args.dir)
end

-- object reads a file of the catalogue, which must be of a type.
local function object(file, kind)
  local o = json.read(file)
  if type(o) ~= "table" or o.type ~= kind then
    local what = kind:lower():gsub("feature", "item")
    script.usage_error(file .. " is not a STAC " .. what, "import takes a folder with catalog.json")
  end
  return o
end

-- inside returns the file that an address in another file names. It must be in the folder of the catalogue.
local function inside(from, href)
  if type(href) ~= "string" or href:find("^%a[%w+.-]*:") or href:sub(1, 1) == "/" then
    return nil, "is not in the folder of the catalogue: " .. tostring(href)
  end
  local name = href:gsub("%%(%x%x)", function(code)
    return string.char(tonumber(code, 16))
  end)
  local top, file = path.abs(args.dir), path.abs(path.join(path.dir(from), name))
  if name:find("%z") or file:sub(1, #top + 1) ~= path.join(top, "x"):sub(1, -2) then
    return nil, "leads out of the folder of the catalogue: " .. href
  end
  return file
end

local function linked(from, o, rel)
  local i = 0
  return function()
    while true do
      i = i + 1
      local l = (o.links or {})[i]
      if not l then
        return nil
      elseif l.rel == rel then
        local file, why = inside(from, l.href)
        if not file then
          script.usage_error("a link of " .. from .. " " .. why)
        end
        return file, l
      end
    end
  end
end

local types = { ["image/jpeg"] = "image", ["image/tiff"] = "raster", ["application/geo+json"] = "vector" }

-- dataset describes the dataset of an item: as it was exported, or from what STAC says.
local function dataset(item)
  local p = item.properties or {}
  local record = type(p["transect:record"]) == "table" and p["transect:record"] or nil
  local new = { components = {} }
  for name in pairs(item.assets or {}) do
    table.insert(new.components, { name = name })
  end
  table.sort(new.components, function(a, b)
    return a.name < b.name
  end)
  if record then
    for wire, field in pairs(export.kept) do
      new[wire] = value(record[field])
    end
    new.name, new.type, new.properties = record.name, record.type, value(record.properties)
  else
    new.name, new.geometry, new.acquisition_date = value(p.title) or item.id, value(item.geometry), value(p.datetime)
    for _, asset in pairs(item.assets or {}) do
      new.type = new.type or types[tostring(asset.type):match("^[^;]+")]
    end
    new.type = new.type or "file"
    new.acquisition_date = new.type == "image" and new.acquisition_date or nil
  end
  new.properties = new.properties or {}
  new.properties.stac = { id = item.id, collection = item.collection }
  return new
end

local catalogue = path.join(args.dir, "catalog.json")
if not fs.is_file(catalogue) then
  script.usage_error("there is no " .. catalogue, "name the folder of a static STAC catalogue")
end
local root = object(catalogue, "Catalog")

-- any_file reports whether a file of the first item is there, or cannot be by its address; nothing is created yet.
local function any_file()
  for file in linked(catalogue, root, "child") do
    for at in linked(file, object(file, "Collection"), "item") do
      local assets = object(at, "Feature").assets or {}
      for _, asset in pairs(assets) do
        local name = inside(at, asset.href)
        if not name or fs.is_file(name) then
          return true
        end
      end
      if next(assets) then
        return false
      end
    end
  end
  return true
end
if not any_file() then
  script.usage_error(args.dir .. " has no files of its items", "transect export writes them with --files")
end
local project = find.project_or_new(args.project, args.create)
local counts = { imported = 0, already_there = 0, left_out = 0, failed = 0 }
local function verdict(item, what, cause)
  counts[what] = counts[what] + 1
  if args.json then
    print(json.encode({ item = item.id, name = item.name, verdict = what, cause = cause }))
  elseif cause then
    show.note(what:gsub("_", " ") .. ": " .. tostring(item.name) .. ": " .. cause)
  end
end

-- fill sends the files of an item that are not there yet.
local function fill(item)
  local done = {}
  for _, c in ipairs(item.dataset.components or {}) do
    done[c.name] = c.size and c
  end
  local sent = false
  for name, asset in pairs(item.assets) do
    if not done[name] then
      local file, why = inside(item.file, asset.href)
      if not file or not fs.is_file(file) then
        return nil, name .. " " .. (why or "is not there: " .. asset.href)
      end
      local md5 = tostring(asset["file:checksum"]):match("^d50110(%x+)$")
      if asset["file:size"] and fs.stat(file).size ~= asset["file:size"] or md5 and hash.md5_file(file) ~= md5 then
        return nil, name .. " is not the file that the catalogue describes: " .. asset.href
      end
      sdk.datasets.upload_file(item.dataset, { component = name, file_path = file })
      sent = true
    end
  end
  return true, sent
end

local bar = progress.start({ label = "import", transfers = true })
local function flush(batch)
  local fresh, new = {}, {}
  for _, item in ipairs(batch) do
    if not item.dataset then
      fresh[#fresh + 1], new[#new + 1] = item, item.new
    end
  end
  if #new > 0 then
    for i, made in ipairs(sdk.datasets.create_datasets(new)) do
      fresh[i].dataset, fresh[i].made = made, true
    end
  end
  task.map(batch, function(item)
    local ok, result, why = pcall(fill, item)
    local failed = not ok and tostring(result) or not result and why or nil
    bar:add(failed and { failed = 1 } or { files = 1 })
    verdict(item, failed and "failed" or (item.made or why) and "imported" or "already_there", failed)
  end, { workers = 8 })
end

-- Missions by name, in the order in which they were created: collections of one name take one each.
local there = {}
for mission in sdk.missions.search_generator({ filter = query.eq("project", project.id) }) do
  there[mission.name] = there[mission.name] or {}
  table.insert(there[mission.name], mission)
end

for file in linked(catalogue, root, "child") do
  local collection = object(file, "Collection")
  local mission
  if collection.id ~= "without-mission" then
    local record = collection["transect:record"] or {}
    local name = value(collection.title) or collection.id
    mission = table.remove(there[name] or {}, 1)
    if not mission then
      local interval = ((collection.extent or {}).temporal or {}).interval or { {} }
      mission = sdk.missions.create_mission({
        project = project,
        name = name,
        survey_date = value(record.survey_date) or value(interval[1][1]) or "1970-01-01T00:00:00.000Z",
      })
      find.made("mission " .. name)
    end
    if value(record.geometry) and not mission.geometry then
      sdk.missions.update_geometry({ mission = mission, geometry = record.geometry })
    end
  end
  local known, batch = {}, {}
  local filter = mission and query.eq("mission", mission.id)
    or query.all(query.eq("project", project.id), query.exists("mission", false))
  for d in sdk.datasets.search_generator({ filter = filter }) do
    local from = (d.properties or {}).stac
    if from then
      known[from.id] = d
    end
  end
  for at in linked(file, collection, "item") do
    local item = object(at, "Feature")
    local new = dataset(item)
    new.project, new.mission = project.id, mission and mission.id
    local one = { id = item.id, name = new.name, file = at, assets = item.assets, new = new, dataset = known[item.id] }
    if #new.components == 0 then
      verdict(one, "left_out", "it has no files")
    else
      batch[#batch + 1] = one
    end
    if #batch == 100 then
      flush(batch)
      batch = {}
    end
  end
  flush(batch)
end
bar:finish()
if not args.json then
  show.note(
    ("%s%s imported, %d already there, %d left out, %d failed"):format(
      show.count(counts.imported, "item"),
      script.rehearsal() and " would be" or "",
      counts.already_there,
      counts.left_out,
      counts.failed
    )
  )
end
script.fail_items(counts.failed)
