-- Copy missions and their content to another project or platform
--
-- Each copied dataset says in properties.copied_from where it comes from, so that a second
-- run finds it, completes what was begun and copies nothing twice.
local sdk, script, query, json = require("sdk"), require("script"), require("query"), require("json")
local fs, path, task, progress = require("fs"), require("path"), require("task"), require("progress")
local find, show, export = require("lib.find"), require("lib.show"), require("lib.export")

local args = script.args({
  "from",
  "to",
  _doc = [[
Copy a mission, or a project with all its missions, to a mission or a project of this platform or of another one:
datasets, annotations, and the tags and comments about them, which then are yours; a comment names its author. Every
file is verified by its checksum in both directions. Safe to run again: what is there already is not copied, and what
was begun is completed. What is not copied is listed: products, followers, and vectors that show a collection of
features instead of files.]],
  _example = [[
transect copy 'North quarry/May survey' Archive --create
transect copy 'North quarry' 'North quarry' --to-profile customer --create]],
  from = { "string", value = "PROJECT[/MISSION]", complete = "names", doc = "what to copy, by name or id" },
  to = { "string", value = "PROJECT[/MISSION]", doc = "where to; a mission keeps its name unless one is given" },
  to_profile = { "string", optional = true, value = "NAME", doc = "profile of the platform to copy to" },
  create = { "boolean", doc = "create the project and the missions if they do not exist yet" },
  json = { "boolean", doc = "print one JSON object per dataset, annotation, tag and comment" },
})

local target = args.to_profile and sdk.connect({ profile = args.to_profile }) or sdk
local project, mission = find.target(args.from)
local to_project, to_mission = args.to:match("^([^/]+)/(.+)$")
to_project = to_project or args.to
if to_mission and not mission then
  local hint = "name a project: transect copy '" .. args.from .. "' PROJECT"
  script.usage_error("a project cannot be copied to a mission", hint)
end

-- named finds the one record of a manager with a name, nil when there is none.
local function named(manager, name, scope)
  local filter = query.eq("name", name)
  local found = manager.search({ filter = scope and query.all(scope, filter) or filter, limit = 2 })
  if #found > 1 then
    local ids = found[1].id .. ", " .. found[2].id
    script.usage_error("several are named " .. name .. ": " .. ids, "give the id instead")
  end
  return found[1]
end
local function missing(what, name)
  script.usage_error("there is no " .. what .. " " .. name .. " to copy to", "--create makes a new one")
end

local owner = try(target.projects.describe, to_project) or named(target.projects, to_project)
if not owner then
  if not args.create then
    missing("project", to_project)
  end
  owner = find.new_project(to_project, target)
end
if target.url == sdk.url and owner.id == project.id and not (to_mission and to_mission ~= mission.name) then
  script.usage_error("source and target of the copy are the same", "name another project or another mission")
end

local counts, kinds = {}, { "dataset", "annotation", "tag", "comment" }
for _, kind in ipairs(kinds) do
  counts[kind] = { copied = 0, already_there = 0, left_out = 0, failed = 0 }
end
local explained = 0
local function verdict(kind, record, what, cause)
  local name = record.name or record.text
  if args.json then
    print(json.encode({ kind = kind, id = record.id, name = name, verdict = what, cause = cause }))
  elseif cause then
    explained = explained + 1
    if explained <= 20 then
      show.note(what:gsub("_", " ") .. ": " .. kind .. " " .. tostring(name or record.id) .. ": " .. cause)
    end
  end
  counts[kind][what] = counts[kind][what] + 1
end

-- components lists the names of a dataset's files; nil and the reason when it has none to copy.
local function components(dataset)
  local names = {}
  for _, c in ipairs(dataset.components or {}) do
    if c.collection then
      return nil, "it shows a collection of features, not files"
    elseif not c.size then
      return nil, "its file " .. c.name .. " was never uploaded"
    end
    names[#names + 1] = { name = c.name }
  end
  if #names == 0 then
    return nil, "it has no files"
  end
  return names
end

-- state reports whether a component of a copy is there, and whether its contents are others.
local function state(copy, component)
  for _, c in ipairs(copy.components or {}) do
    if c.name == component.name and c.size then
      return true, component.checksum ~= nil and c.checksum ~= component.checksum
    end
  end
  return false, false
end

local function fill(item, folder, bar)
  for _, c in ipairs(item.from.components) do
    local there, different = state(item.copy, c)
    if different then
      local message = "its file " .. c.name .. " differs from the one in the copy " .. item.copy.id
      error({ name = "UploadError", message = message })
    elseif not there then
      local file = sdk.datasets.download_component(item.from, {
        component = c.name,
        target_path = path.join(folder, item.from.id),
        overwrite = true,
        md5hash = c.checksum,
      })
      target.datasets.upload_file(item.copy, { component = c.name, file_path = file, md5hash = c.checksum })
      if fs.exists(file) then -- it is not downloaded when it is only planned
        fs.remove(file)
      end
    end
    bar:add({ bytes = c.size })
  end
end

-- new_ids are the ids of copies, by what they were copied from.
local new_ids = { [project.id] = owner.id }
-- within selects what belongs to a mission of a project, or to the project and none of its missions.
local function within(of, place)
  return place and query.eq("mission", place) or query.all(query.eq("project", of), query.exists("mission", false))
end

-- copies maps the datasets of the target by what they were copied from.
local function copies(filter)
  local known = {}
  for dataset in target.datasets.search_generator({ filter = filter }) do
    local source = dataset.properties and dataset.properties.copied_from
    if source then
      known[source] = dataset
    end
  end
  return known
end

-- copy_datasets copies those of a mission, or without one those of the project itself.
local function copy_datasets(from, to)
  local known = copies(within(owner, to))
  local items, fresh, bytes = {}, {}, 0
  for dataset in sdk.datasets.search_generator({ filter = within(project, from), sort = { name = 1 } }) do
    local names, why = components(dataset)
    if not names then
      verdict("dataset", dataset, "left_out", why)
    else
      local item = { from = dataset, source = sdk.url .. " " .. dataset.id }
      item.copy = known[item.source]
      if not item.copy then
        local properties = dataset.properties and dataset:totable().properties or {}
        properties.copied_from = item.source
        item.new = {
          name = dataset.name,
          type = dataset.type,
          components = names,
          properties = properties,
          project = owner.id,
          mission = to and to.id,
          flight = dataset.flight and to and to.flights and to.flights[1],
        }
        for wire, field in pairs(export.kept) do
          item.new[wire] = dataset[field]
        end
        fresh[#fresh + 1] = item
      end
      items[#items + 1] = item
      bytes = bytes + (show.bytes(dataset) or 0)
    end
  end
  for first = 1, #fresh, 100 do
    local batch = {}
    for i = first, math.min(first + 99, #fresh) do
      batch[#batch + 1] = fresh[i].new
    end
    for i, made in ipairs(target.datasets.create_datasets(batch)) do
      fresh[first + i - 1].copy = made
    end
  end
  local folder = fs.temp_dir()
  local bar = progress.start({ label = "copy " .. (from or project).name, files = #items, bytes = bytes })
  task.map(items, function(item)
    new_ids[item.from.id] = item.copy.id
    local complete = not item.new
    for _, c in ipairs(item.from.components) do
      complete = complete and state(item.copy, c)
    end
    local _, err = try(fill, item, folder, bar)
    if err and err.name ~= "DownloadError" and err.name ~= "UploadError" and err.name ~= "ResponseError" then
      error(err, 0) -- not this file's fault: stop
    end
    bar:add(err and { failed = 1 } or { files = 1 })
    verdict("dataset", item.from, err and "failed" or complete and "already_there" or "copied", err and err.message)
  end, { workers = 4 })
  bar:finish()
end

-- Annotations have no properties to mark them: those that are drawn alike on the same dataset, and named alike,
-- are the same.
local function drawn(a, on)
  local geometry = a.geometry and a:totable().geometry
  return json.encode({ on or "", a.type or "", a.name or "", a.description or "", geometry or "" })
end
local drawing = { "geometry", "stroke", "stroke_dasharray", "icon", "stroke_width", "stroke_opacity", "fill" }
for _, field in ipairs({ "fill_opacity", "type", "name", "description", "normals" }) do
  drawing[#drawing + 1] = field
end

local function copy_annotations(from, to)
  local there = {}
  for a in target.annotations.search_generator({ filter = within(owner, to) }) do
    there[drawn(a, a.target and a.target.id)] = a.id
  end
  for a in sdk.annotations.search_generator({ filter = within(project, from) }) do
    local new, attachments, left = { project = owner.id, mission = to and to.id }, {}, nil
    for _, field in ipairs(drawing) do
      new[field] = a[field]
    end
    if a.target then
      new.target = new_ids[a.target.id] and { type = a.target.type, id = new_ids[a.target.id] }
      left = not new.target and "the dataset it is drawn on was not copied" or nil
    end
    for _, id in ipairs(a.attachments or {}) do
      attachments[#attachments + 1] = new_ids[id]
    end
    if #attachments > 0 then
      new.attachments = attachments
    end
    local same = there[drawn(a, new.target and new.target.id)]
    if same then
      new_ids[a.id] = same
      verdict("annotation", a, "already_there")
    elseif left then
      verdict("annotation", a, "left_out", left)
    else
      new_ids[a.id] = target.annotations.create(new).id
      verdict("annotation", a, "copied")
      if #attachments < #(a.attachments or {}) then
        show.note("annotation " .. (a.name or a.id) .. ": attachments outside the mission were not copied")
      end
    end
  end
end

-- copy_remarks copies the tags or the comments about what was copied; text is what one says.
local function copy_remarks(kind, text)
  local manager, there = target[kind .. "s"], {}
  local function key(said, about, of)
    return json.encode({ said, about, of or "" })
  end
  for _, r in ipairs(manager.search({ project = owner })) do
    there[key(r.name or r.text, r.type, r.target)] = true
  end
  for _, r in ipairs(sdk[kind .. "s"].search({ project = project })) do
    local whole = r.type == "project"
    local of = not whole and new_ids[r.target] or nil
    local meant = of or whole and not mission
    if meant and there[key(text(r), r.type, of)] then
      verdict(kind, r, "already_there")
    elseif meant then
      manager.create(text(r), { project = owner, type = r.type, target = of, flight = r.flight and new_ids[r.flight] })
      verdict(kind, r, "copied")
    elseif not mission then
      verdict(kind, r, "left_out", "what it is about was not copied")
    end
  end
end

local missions = mission and { mission } or find.missions(project)
for _, from in ipairs(missions) do
  local name = to_mission or from.name
  local to = named(target.missions, name, query.eq("project", owner))
  if not to then
    if not args.create then
      missing("mission", owner.name .. "/" .. name)
    end
    local new = { project = owner.id, name = name, survey_date = from.survey_date }
    if from.flights and from.flights[1] and from.geometry then
      local images = query.all(query.eq("mission", from), query.eq("type", "image"))
      new.number_of_images = sdk.datasets.search({ filter = images, limit = 1, return_total = true }).total
      new.geometry, new.area = from.geometry, from.area
    end
    local created
    to, created = target.missions.find_or_create(new)
    if created then
      find.made("mission " .. to.name .. " in the project " .. owner.name)
    end
  end
  for i, flight in ipairs(from.flights or {}) do
    new_ids[flight] = to.flights and to.flights[i]
  end
  copy_datasets(from, to)
  copy_annotations(from, to)
end
if not mission then
  copy_datasets()
  copy_annotations()
end
copy_remarks("tag", function(tag)
  return tag.name
end)
copy_remarks("comment", function(comment)
  local who = (comment.author or {}).displayName
  return (who and "(" .. who .. ", " or "(") .. comment.creation_date:sub(1, 10) .. ") " .. comment.text
end)
if explained > 20 and not args.json then
  show.note(("… and %d more"):format(explained - 20))
end
local n = 0
for _, kind in ipairs(kinds) do
  local c = counts[kind]
  n = n + c.copied + c.already_there
  if not args.json then
    local line = "%s of %s: %d %scopied, %d already there, %d left out, %d failed"
    local would = script.rehearsal() and "would be " or ""
    print(line:format(show.count(c.copied + c.already_there + c.left_out + c.failed, kind), args.from, c.copied, would,
      c.already_there, c.left_out, c.failed))
  end
end
script.fail_items(counts.dataset.failed, counts.dataset.failed + n)
