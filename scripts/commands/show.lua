-- Show everything about a project, mission, dataset, product or analytic
local sdk, script, query = require("sdk"), require("script"), require("query")
local json, inspect = require("json"), require("inspect")
local find, show = require("lib.find"), require("lib.show")

local args = script.args({
  "name",
  _reads = true,
  _doc = "Show everything about a project, mission, dataset, product or analytic; of an analytic the highest version.",
  _example = [[
transect show 'North quarry'
transect show 'North quarry/May survey/DJI_0001.JPG'
transect show 5f3c0e7a9b1d4c2e8f6a7b90 --json | jq .components]],
  name = {
    "string",
    value = "NAME|ID",
    complete = "names",
    doc = "PROJECT, PROJECT/MISSION, PROJECT/MISSION/DATASET, a unique name, or an id",
  },
  json = { "boolean", doc = "print the record as the platform has it" },
})

local kind, record = find.any(args.name)
local others = {}
if kind == "analytic" then
  for other in sdk.analytics.search_generator({ filter = query.eq("name", record.name), sort = { version = -1 } }) do
    if other.id ~= record.id then
      others[#others + 1] = other.version .. "  " .. other.id
    end
  end
  if #others > 0 and args.name == record.name then
    show.note(("%s %s is the highest of %d versions"):format(record.name, record.version, #others + 1))
  end
end
if args.json then
  print(json.encode(record, { indent = 2 }))
  script.exit(0)
end

local rows, longest = {}, 200 -- bytes of a value; --json has all of it
local function row(field, value)
  if value == nil or value == "" then
    return
  end
  if type(value) == "table" then
    if next(value) == nil then
      return
    end
    value = json.encode(value)
  end
  value = tostring(value)
  if #value > longest then -- outlines, reference systems
    value = value:sub(1, longest):gsub("[\128-\255]*$", "") .. "…"
  end
  rows[#rows + 1] = { field = field, value = value }
end

-- named is the name of what a field refers to, with its id.
local function named(manager, id)
  local r = id and try(sdk[manager].describe, id)
  return r and r.name .. "  " .. id or id
end

row("kind", kind)
local all, keys = json.decode(json.encode(record)), {}
for _, key in ipairs({ "name", "id", "version", "type" }) do
  row(key, all[key])
end
local shown = {
  _id = true,
  id = true,
  name = true,
  version = true,
  type = true,
  components = true,
  outputs = true,
  missions = true,
}
for _, ref in ipairs({ "project", "mission", "analytic" }) do
  if kind ~= ref and all[ref] then
    row(ref, named(ref .. "s", all[ref]))
  end
  shown[ref] = true
end
for key in pairs(all) do
  if not shown[key] then
    keys[#keys + 1] = key
  end
end
table.sort(keys)
for _, key in ipairs(keys) do
  row(key, all[key])
end
for _, other in ipairs(others) do
  row("other version", other)
end
if kind == "project" or kind == "mission" then
  local within = query.eq(kind, record)
  if kind == "project" then
    row("missions", sdk.missions.search({ filter = within, limit = 1, return_total = true }).total)
  end
  row("datasets", sdk.datasets.search({ filter = within, limit = 1, return_total = true }).total)
end
local width = 0
for _, r in ipairs(rows) do
  width = math.max(width, #r.field)
end
for _, r in ipairs(rows) do
  print(r.field .. (" "):rep(width - #r.field + 2) .. r.value)
end

if kind == "dataset" and #(record.components or {}) > 0 then
  local parts = {}
  for i, c in ipairs(record.components) do
    local size = show.size(c.size)
    parts[i] = { component = c.name, file = c.filename, size = size, state = c.status, checksum = c.checksum }
  end
  print("\n" .. inspect.table(parts, { "component", "file", "size", "state", "checksum" }))
elseif kind == "product" and #(record.outputs or {}) > 0 then
  print()
  show.rows("table", show.each(sdk.datasets.describe(record.outputs)), { "output", "type", "size", "id" }, function(d)
    return { output = d.name, type = d.type, size = show.bytes(d), id = d.id }
  end)
end
