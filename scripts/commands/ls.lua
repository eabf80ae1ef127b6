-- List projects, missions, datasets, products or analytics
local sdk, script, query = require("sdk"), require("script"), require("query")
local find, show = require("lib.find"), require("lib.show")

local args = script.args({
  "what",
  "where",
  _reads = true,
  _doc = "List projects, missions, datasets, products or analytics. "
    .. "For a project, its missions are listed, for a mission its datasets.",
  _example = [[
transect ls
transect ls 'North quarry'
transect ls 'North quarry/May survey'
transect ls datasets 'North quarry' --json | jq -r .name
transect ls datasets 'North quarry' --format csv > datasets.csv]],
  what = {
    "string",
    default = "projects",
    value = "WHAT",
    complete = "names",
    doc = "projects, missions, datasets, products, analytics; or PROJECT, or PROJECT/MISSION",
  },
  where = {
    "string",
    optional = true,
    value = "PROJECT[/MISSION]",
    complete = "names",
    doc = "where: a project, or a mission of it",
  },
  limit = { "integer", optional = true, value = "N", doc = "list N at most" },
  format = {
    "string",
    default = "table",
    choices = { "table", "json", "csv", "geojson" },
    doc = "table for people, json for one object per line as the platform has it, csv, or geojson",
  },
  json = { "boolean", doc = "the same as --format json" },
})

local format = show.chosen(args)
local columns = {
  projects = { "name", "created", "id" },
  missions = { "name", "survey date", "id" },
  datasets = { "name", "type", "state", "size", "created", "id" },
  products = { "analytic", "state", "created", "outputs", "id" },
  analytics = { "name", "version", "description", "id" },
}
local analytics = {}
local function analytic(id)
  analytics[id] = analytics[id] or sdk.analytics.describe(id)
  return analytics[id].name .. " " .. analytics[id].version
end
local cells = {
  projects = function(p)
    return { name = p.name, created = p.created, id = p.id }
  end,
  missions = function(m)
    return { name = m.name, ["survey date"] = m.survey_date, id = m.id }
  end,
  datasets = function(d)
    return {
      name = d.name,
      type = d.type,
      state = show.state(d),
      size = show.bytes(d),
      created = d.creation_date,
      id = d.id,
    }
  end,
  products = function(p)
    return {
      analytic = analytic(p.analytic),
      state = p.status,
      created = p.creation_date,
      outputs = #(p.outputs or {}),
      id = p.id,
    }
  end,
  analytics = function(a)
    return { name = a.name, version = a.version, description = a.description, id = a.id }
  end,
}
local orders = {
  projects = { name = 1 },
  missions = { survey_date = 1, name = 1 },
  datasets = { name = 1 },
  products = { creation_date = -1 },
  analytics = { name = 1 },
}

local function list(kind, filter)
  local left, records = args.limit, sdk[kind].search_generator({ filter = filter, sort = orders[kind] })
  return show.rows(format, function()
    if left == 0 then
      return nil
    end
    left = left and left - 1
    return records()
  end, columns[kind], cells[kind])
end

local what, where = args.what, args.where
if not columns[what] then
  if where then
    local known = { "projects", "missions", "datasets", "products", "analytics" }
    script.usage_error(
      "nothing is listed under " .. what,
      show.suggestion(what, known, "name projects, missions, datasets, products or analytics")
    )
  end
  what, where = nil, what
end
local project, mission
if where then
  project, mission = find.target(where)
end
local inside = mission and query.eq("mission", mission) or project and query.eq("project", project) or nil

local n
if what == "projects" or what == "analytics" then
  if where then
    script.usage_error(what .. " do not belong to a project", "leave out " .. where)
  end
  n = list(what)
elseif what == "missions" then
  if mission then
    script.usage_error(mission.name .. " is a mission: it has datasets", "transect ls datasets '" .. where .. "'")
  end
  n = list(what, inside)
elseif what then
  n = list(what, inside)
elseif mission then
  what, n = "datasets", list("datasets", inside)
else
  what, n = "missions or datasets", list("missions", inside)
  n = n + list("datasets", query.all(inside, query.exists("mission", false)))
end
if n == 0 and format == "table" then
  show.note(
    ("there are no %s%s"):format(what, where and " in " .. where or "")
      .. (what == "projects" and "; transect put FILES... PROJECT --create makes one" or "")
  )
end
