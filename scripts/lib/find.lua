-- What people name: a project, a mission, a dataset or a product, by its id, its
-- name or a path such as PROJECT/MISSION. Names are unique for people, seldom for
-- the platform: several of one name are refused with the candidates, never guessed.
local sdk, query, script = require("sdk"), require("query"), require("script")
local find = {}

local listed, known = 10, 1000 -- candidates in a message; names searched for a similar one

local function id(text)
  return #text == 24 and text:match("^%x+$") ~= nil
end

-- made_up reports whether a rehearsal pretended to create a record.
local function made_up(record)
  return not id(record.id)
end

-- made says what is new, or would be.
function find.made(what)
  io.stderr:write((script.rehearsal() and "would make" or "made") .. " the new " .. what .. "\n")
end

-- described asks for a record by id; nil when there is none.
local function described(manager, ref)
  local record, err = try(manager.describe, ref)
  if err and err.status ~= 404 then
    error(err, 0)
  end
  return record
end

-- location is the project, or the mission, that a mission or dataset is in.
local function location(record)
  local mission = record.type and record.mission and described(sdk.missions, record.mission)
  local project = record.project and described(sdk.projects, record.project)
  local path = (project and project.name or "") .. (mission and "/" .. mission.name or "")
  return path ~= "" and "  in " .. path or ""
end

-- candidates are records as lines of a message.
local function candidates(found)
  local lines = {}
  for i, r in ipairs(found) do
    if i > listed then
      lines[i] = "…"
      break
    end
    local kind = r.type and "  " .. r.type or ""
    local date = r.survey_date or r.creation_date or r.created or ""
    if date ~= "" then
      date = "  " .. tostring(date):sub(1, 10)
    end
    lines[i] = ("%s  %s%s%s%s"):format(r.id, r.name, kind, date, location(r))
  end
  return table.concat(lines, "\n")
end

-- one takes the only record that was found; other, a function, gives the names
-- there are, otherwise says what else can be done.
local function one(kind, named, found, other, where, otherwise)
  if #found == 1 then
    return found[1]
  end
  if #found > 1 then
    script.usage_error(
      ("several %ss are named %s%s:\n%s"):format(kind, named, where or "", candidates(found)),
      kind == "mission" and not where and "give the id, or a path such as PROJECT/MISSION"
        or "give the id instead of the name"
    )
  end
  local names = other and other() or {}
  local near, hint = script.nearest(named, names), nil
  if near then
    hint = "did you mean " .. near .. "?"
  elseif #names > 0 and #names <= listed then
    table.sort(names)
    hint = ("the %ss are: %s"):format(kind, table.concat(names, ", "))
  elseif #names == 0 and other then
    hint = ("there is no %s%s yet"):format(kind, where or "")
  end
  if otherwise then
    hint = hint and hint .. (near and " " or "; ") .. otherwise or otherwise
  end
  script.usage_error(("there is no %s %s%s"):format(kind, named, where or ""), hint)
end

local function names(manager, filter)
  return function()
    local list, seen = {}, {}
    for _, r in ipairs(manager.search({ filter = filter, fields = { include = { "name" } }, limit = known })) do
      if not seen[r.name] then
        list[#list + 1], seen[r.name] = r.name, true
      end
    end
    return list
  end
end

local function named(manager, name, filter)
  return manager.search({
    filter = filter and query.all(filter, query.eq("name", name)) or query.eq("name", name),
    limit = listed + 1,
  })
end

-- project finds a project by name or id.
function find.project(text)
  local project = id(text) and described(sdk.projects, text)
  return project or one("project", text, named(sdk.projects, text), names(sdk.projects))
end

-- refuse_path refuses to make a project with the name of a path: a slip.
local function refuse_path(text)
  local relative = text:find("^%.%.?/") or text:find("^%.%.?$")
  if relative or text:find("^[/~]") or text:find("^%a:[/\\]") or text:find("^\\\\") then
    script.usage_error(
      text .. " is a path of files, not PROJECT[/MISSION]",
      "name the project that the files belong to, such as 'North quarry' or 'North quarry/May survey'"
    )
  end
end

-- project_or_new finds a project by name or id, or makes it when create is true;
-- before, a function, is called first then and may refuse.
function find.project_or_new(text, create, before)
  local found = id(text) and described(sdk.projects, text)
  found = found and { found } or named(sdk.projects, text)
  if #found > 0 or not create then
    return one("project", text, found, names(sdk.projects), nil, "--create makes a new one")
  end
  refuse_path(text)
  if before then
    before()
  end
  local project = sdk.projects.find_or_create({ name = text })
  find.made("project " .. project.name)
  return project
end

-- mission finds one mission of a project by name or id.
function find.mission(project, text, otherwise)
  local mission = id(text) and described(sdk.missions, text)
  local filter = query.eq("project", project)
  if mission then
    return mission
  end
  local found, where = named(sdk.missions, text, filter), " in the project " .. project.name
  return one("mission", text, found, names(sdk.missions, filter), where, otherwise)
end

-- missions lists the missions of a project, oldest first; those whose name
-- holds a text, when one is given.
function find.missions(project, match)
  local missions, filter = {}, query.eq("project", project)
  if match and match ~= "" then
    filter = query.all(filter, query.match("name", match))
  end
  for m in sdk.missions.search_generator({ filter = filter, sort = { survey_date = 1 } }) do
    missions[#missions + 1] = m
  end
  return missions
end

-- splits goes through the ways to cut a path at a slash, the longest beginning
-- first: names may hold slashes.
local function splits(text)
  local from = #text
  return function()
    while from > 1 do
      local at = from
      from = from - 1
      if text:sub(at, at) == "/" and at < #text then
        return text:sub(1, at - 1), text:sub(at + 1)
      end
    end
  end
end

-- within finds the project a path begins with, and the rest of the path.
local function within(text)
  local found = named(sdk.projects, text)
  if #found > 0 then
    return one("project", text, found), nil
  end
  for head, rest in splits(text) do
    local project = id(head) and described(sdk.projects, head)
    if project then
      return project, rest
    end
    found = named(sdk.projects, head)
    if #found > 0 then
      return one("project", head, found), rest
    end
  end
end

-- target finds PROJECT or PROJECT/MISSION: project, and mission or nil. An id of
-- either will do, and the name of a mission that is the only one of its name. What
-- does not exist is made when create is given, a function of
-- the project and the name that makes a mission; otherwise is the hint without it.
-- before is called before anything is made, and may refuse.
function find.target(text, create, otherwise, before)
  text = text:gsub("/+$", "")
  if text == "" then
    script.usage_error("the name of a project is missing", "such as: North quarry/May survey")
  end
  if id(text) then
    local project = described(sdk.projects, text)
    if project then
      return project
    end
    local mission = described(sdk.missions, text)
    if mission then
      return sdk.projects.describe(mission.project), mission
    end
    script.usage_error("there is no project or mission with the id " .. text)
  end
  local project, rest = within(text)
  if not project then
    refuse_path(text)
  end
  if not project and not create then
    local missions = named(sdk.missions, text)
    if #missions > 0 then
      local mission = one("mission", text, missions)
      return sdk.projects.describe(mission.project), mission
    end
    local first = text:match("^[^/]+") or text
    return one("project", first, {}, names(sdk.projects), nil, otherwise)
  end
  if not project then
    if before then
      before()
    end
    local first, tail = text:match("^([^/]+)/(.+)$")
    project, rest = sdk.projects.find_or_create({ name = first or text }), tail
    find.made("project " .. project.name)
  end
  if not rest then
    return project
  end
  if create and (made_up(project) or #named(sdk.missions, rest, query.eq("project", project)) == 0) then
    if before then
      before()
    end
    local mission = create(project, rest)
    find.made("mission " .. mission.name .. " in the project " .. project.name)
    return project, mission
  end
  return project, find.mission(project, rest, otherwise)
end

-- only_mission finds a mission by path, id, or by a name that is the only one of its kind.
function find.only_mission(text)
  if not id(text) then
    local found = named(sdk.missions, text)
    if #found > 0 then
      return one("mission", text, found)
    end
    if not text:find("/", 1, true) then
      one("mission", text, {}, names(sdk.missions))
    end
  end
  local project, mission = find.target(text)
  if not mission then
    script.usage_error(project.name .. " is a project, not a mission", "give PROJECT/MISSION")
  end
  return mission
end

-- newest is the product that was ordered last for a project or a mission, from an
-- analytic when one is named; nil when there is none.
local function newest(kind, record, analytic)
  local filter = query.eq(kind, record)
  for product in sdk.products.search_generator({ filter = filter, sort = { creation_date = -1 } }) do
    if not analytic or sdk.analytics.describe(product.analytic).name == analytic then
      return product
    end
  end
end

-- under finds what a path names behind a mission, the only one of its name where of,
-- a filter, holds: a dataset, or the newest product of an analytic.
local function under(path, of)
  for head, tail in splits(path) do
    local missions = named(sdk.missions, head, of)
    if #missions > 0 then
      local mission = one("mission", head, missions)
      local filter = query.eq("mission", mission)
      local datasets = named(sdk.datasets, tail, filter)
      local product = #datasets == 0 and newest("mission", mission, tail)
      if product then
        return "product", product
      end
      local where = " in the mission " .. mission.name
      return "dataset", one("dataset", tail, datasets, names(sdk.datasets, filter), where)
    end
  end
end

-- inside finds what a path names within a project: a mission, a dataset of a
-- mission or of the project, or the newest product of an analytic.
local function inside(project, rest)
  local of = query.eq("project", project)
  local found = named(sdk.missions, rest, of)
  if #found > 0 then
    return "mission", one("mission", rest, found)
  end
  local kind, record = under(rest, of)
  if kind then
    return kind, record
  end
  found = named(sdk.datasets, rest, of)
  if #found > 0 then
    return "dataset", one("dataset", rest, found)
  end
  local product = newest("project", project, rest)
  if product then
    return "product", product
  end
  one("mission", rest:match("^[^/]+"), {}, names(sdk.missions, of), " in the project " .. project.name)
end

-- any finds what a text names: its kind, and the record.
function find.any(text)
  if id(text) then
    for _, kind in ipairs({ "project", "mission", "dataset", "product", "analytic" }) do
      local record = described(sdk[kind .. "s"], text)
      if record then
        return kind, record
      end
    end
    script.usage_error("nothing has the id " .. text, "is it of this platform? transect ls lists what is there")
  end
  local project, rest = within(text)
  if project and not rest then
    return "project", project
  end
  if project then
    return inside(project, rest)
  end
  local found, kinds = {}, {}
  for _, kind in ipairs({ "mission", "dataset", "analytic" }) do
    for _, r in ipairs(named(sdk[kind .. "s"], text)) do
      found[#found + 1] = r
      kinds[r.id] = kind
    end
  end
  if #found > 1 then
    local lines = {}
    for i, r in ipairs(found) do
      if i <= listed then
        local detail = r.version or tostring(r.survey_date or r.creation_date or ""):sub(1, 10)
        lines[i] = ("%s  %s  %s %s%s"):format(r.id, kinds[r.id], r.name, detail, location(r))
      end
    end
    script.usage_error(
      ("several things are named %s:\n%s"):format(text, table.concat(lines, "\n")),
      "give the id, or a path such as PROJECT/MISSION"
    )
  end
  if #found == 1 then
    return kinds[found[1].id], found[1]
  end
  local kind, record = under(text)
  if kind then
    return kind, record
  end
  local there = names(sdk.projects)()
  for _, name in ipairs(names(sdk.missions)()) do
    there[#there + 1] = name
  end
  local near = script.nearest(text, there)
  script.usage_error(
    "nothing is named " .. text,
    near and "did you mean " .. near .. "?"
      or "transect find TEXT finds by a part of the name, transect ls lists the projects"
  )
end

-- product finds a product by id, or the newest one of a project or a mission, as in
-- PROJECT/MISSION/ANALYTIC.
function find.product(text)
  local function refuse(kind)
    script.usage_error(
      ("%s is %s, not a product"):format(text, kind),
      "name its mission, as in PROJECT/MISSION/ANALYTIC, or an id of those that transect ls products lists"
    )
  end
  local kind, record
  if id(text) or within(text) or #named(sdk.missions, text) == 0 then
    if #named(sdk.analytics, text) > 0 then
      refuse("an analytic")
    end
    kind, record = find.any(text)
  else
    kind, record = "mission", find.only_mission(text)
  end
  if kind == "product" then
    return record
  end
  if kind == "analytic" or kind == "dataset" then
    refuse((kind == "analytic" and "an " or "a ") .. kind)
  end
  local product = newest(kind, record)
  if not product then
    script.usage_error(
      ("nothing was ordered for the %s %s"):format(kind, record.name),
      "transect order ANALYTIC --on MISSION orders an analytic"
    )
  end
  return product
end

return find
