-- Find projects, missions, datasets and products by name, kind, state, date or place
local sdk, script, query = require("sdk"), require("script"), require("query")
local geo, time = require("geo"), require("time")
local find, show = require("lib.find"), require("lib.show")

local args = script.args({
  "name",
  _reads = true,
  _doc = [[
Find projects, missions, datasets and products by name, kind, state, date or place. The date of an image is when it was
taken, that of a mission when it was flown, and of everything else when it was created.]],
  _example = [[
transect find DJI_0042
transect find --kind image --state failed --in 'North quarry'
transect find --kind mission --since 2026-05-01 --until 2026-05-31
transect find --kind raster --box 4.8,50.7,4.9,50.8 --format geojson > rasters.geojson]],
  name = {
    "string",
    optional = true,
    value = "TEXT",
    doc = "text in the name, in any case; * and ? match any characters",
  },
  kind = {
    "string",
    optional = true,
    value = "KIND",
    choices = { "project", "mission", "dataset", "image", "raster", "vector", "mesh", "pcl", "file", "product" },
    doc = "only things of this kind",
  },
  state = {
    "string",
    optional = true,
    doc = "state of a dataset (pending, running, completed, failed) or a product "
      .. "(pending, running, available, failed, cancelled, rejected)",
  },
  since = {
    "string",
    optional = true,
    value = "DATE",
    doc = "created, taken or flown on that day or later, such as 2026-05-31, yesterday or 7d (ago)",
  },
  ["until"] = { "string", optional = true, value = "DATE", doc = "created, taken or flown on that day or earlier" },
  box = {
    "string",
    optional = true,
    value = "W,S,E,N",
    doc = "touching this box: west, south, east, north in degrees",
  },
  ["in"] = {
    "string",
    optional = true,
    value = "PROJECT[/MISSION]",
    complete = "names",
    doc = "only in this project or mission",
  },
  limit = { "integer", optional = true, value = "N", doc = "find N at most of each kind" },
  format = {
    "string",
    default = "table",
    choices = { "table", "json", "csv", "geojson" },
    doc = "table for people, json for one object per line as the platform has it, csv, or geojson",
  },
  json = { "boolean", doc = "the same as --format json" },
})

if not (args.name or args.kind or args.state or args.since or args["until"] or args.box) then
  script.usage_error(
    "a name is missing, or --kind, --state, --since, --until or --box",
    "transect ls lists everything"
  )
end

if args.state then
  local known = { "pending", "running", "completed", "failed", "available", "cancelled", "rejected" }
  local exists = false
  for _, state in ipairs(known) do
    exists = exists or state == args.state
  end
  if not exists then
    script.usage_error(
      "there is no state " .. args.state,
      show.suggestion(args.state, known, "the states are " .. table.concat(known, ", "))
    )
  end
end
local box
if args.box then
  box = {}
  for number in args.box:gmatch("[^,%s]+") do
    box[#box + 1] = tonumber(number)
  end
  local wrong = #box ~= 4 and "is not a box"
  for i, degrees in ipairs(box) do
    local most = i % 2 == 1 and 180 or 90
    if not (math.abs(degrees) <= most) then
      wrong = wrong or ("has a %s beyond %d degrees"):format(i % 2 == 1 and "longitude" or "latitude", most)
    end
  end
  wrong = wrong or box[2] > box[4] and "has its south north of its north"
  if wrong then
    script.usage_error(
      "--box " .. args.box .. " " .. wrong,
      "write west,south,east,north in degrees, such as 4.8,50.7,4.9,50.8; across the date line east is less than west"
    )
  end
end
-- day reads a date; days, added, make the end of it.
local function day(flag, text, days)
  if not text then
    return nil
  end
  local moment, err = try(time.parse, text, nil, { relative = true, zone = "local" })
  if not moment then
    script.usage_error(("--%s %s is not a date"):format(flag, text), err.hint)
  end
  local whole = time.start_of("day", moment, { zone = "local" }) == moment
  return time.format(whole and time.add(moment, { days = days, zone = "local" }) or moment)
end
local since, before = day("since", args.since, 0), day("until", args["until"], 1)
local project, mission
if args["in"] then
  project, mission = find.target(args["in"])
end

-- The platform finds a text within names; * and ? are matched here, in what it
-- finds by the longest piece between them.
local text, glob = args.name, nil
if text and text:find("[*?]") then
  text = ""
  for piece in args.name:gmatch("[^*?]+") do
    if #piece > #text then
      text = piece
    end
  end
  glob = "^" .. args.name:lower():gsub("[%^%$%(%)%%%.%[%]%+%-]", "%%%0"):gsub("%*", ".*"):gsub("%?", ".") .. "$"
end
local function named(record)
  return not glob or tostring(record.name):lower():find(glob) ~= nil
end

-- A box across the date line is two boxes.
local boxes = box and { box }
if box and box[1] > box[3] then
  boxes = { { box[1], box[2], 180, box[4] }, { -180, box[2], box[3], box[4] } }
end

local function touches(record)
  local shape = record.geometry or record.real_bbox
  local bounds = shape and try(geo.bbox, shape)
  if bounds and #bounds == 6 then
    bounds = { bounds[1], bounds[2], bounds[4], bounds[5] }
  elseif not shape and record.location then
    local at = record.location
    bounds = { at[1], at[2], at[1], at[2] }
  end
  for _, b in ipairs(bounds and boxes or {}) do
    if geo.bbox_intersects(bounds, b) then
      return true
    end
  end
  return false
end

-- in_box is the filter of --box, nil without it: the platform leaves out points that are elsewhere, such as
-- images; where anything else lies is seen in the record.
local in_box
if box then
  local places = { query.ne("geometry.type", "Point") }
  for _, b in ipairs(boxes) do
    local lon, lat = "geometry.coordinates.0", "geometry.coordinates.1"
    table.insert(places, query.all(query.between(lon, b[1], b[3]), query.between(lat, b[2], b[4])))
  end
  in_box = query.any(unpack(places))
end

local types = { image = true, raster = true, vector = true, mesh = true, pcl = true, file = true }
local dates = { project = "created", mission = "survey_date", dataset = "creation_date", product = "creation_date" }

-- in_time is the filter of --since and --until, nil without them.
local function in_time(kind)
  local function within(date)
    return query.all(since and query.gte(date, since) or {}, before and query.lt(date, before) or {})
  end
  if not (since or before) then
    return nil
  elseif kind ~= "dataset" then
    return within(dates[kind])
  end
  local created = query.all(query.exists("acquisition_date", false), within(dates.dataset))
  return query.any(within("acquisition_date"), created)
end
local states = { dataset = "ingestion.status", product = "status" }
local names, total = {}, 0
local format = show.chosen(args)
local printer = show.printer(format, { "kind", "name", "state", "date", "in", "id" })

local function name_of(manager, id)
  if id and names[id] == nil then
    names[id] = (try(sdk[manager].describe, id) or { name = id }).name
  end
  return id and names[id] or nil
end

local function search(kind)
  local conditions = {}
  local function add(condition)
    conditions[#conditions + 1] = condition
  end
  if args.name then
    if kind == "product" then
      return
    end
    if text ~= "" then
      add(query.match("name", text))
    end
  end
  if args.state then
    if not states[kind] then
      return
    end
    add(query.eq(states[kind], args.state))
  end
  if types[args.kind] then
    add(query.eq("type", args.kind))
  end
  add(in_time(kind))
  add(in_box)
  if mission then
    if kind == "project" or kind == "mission" then
      return
    end
    add(query.eq("mission", mission))
  elseif project then
    if kind == "project" then
      return
    end
    add(query.eq("project", project))
  end
  if box and kind == "product" then
    return
  end
  local left = args.limit
  local filter = #conditions > 0 and query.all(unpack(conditions)) or nil
  for record in sdk[kind .. "s"].search_generator({ filter = filter }) do
    if named(record) and (not box or touches(record)) then
      if left == 0 then
        break
      end
      left = left and left - 1
      total = total + 1
      if format == "json" then
        printer.add(record)
      else
        local m = kind ~= "mission" and name_of("missions", record.mission)
        local p = kind ~= "project" and name_of("projects", record.project)
        printer.add(record, {
          kind = record.type or kind,
          name = record.name or name_of("analytics", record.analytic),
          state = record.status and tostring(record.status) or show.state(record),
          date = record.acquisition_date or record[dates[kind]],
          ["in"] = (p or "") .. (m and "/" .. m or ""),
          id = record.id,
        })
      end
    end
  end
end

for _, kind in ipairs({ "project", "mission", "dataset", "product" }) do
  if not args.kind or args.kind == kind or types[args.kind] and kind == "dataset" then
    search(kind)
  end
end
printer.finish()
if total == 0 and format == "table" then
  show.note("nothing was found")
end
