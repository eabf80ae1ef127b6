-- What people name on the command line. The module lookup finds it; here it is made where a command
-- may make it, and said so.
local sdk, query, script, lookup = require("sdk"), require("query"), require("script"), require("lookup")
local find = {}

-- made says what is new, or would be.
function find.made(what)
  io.stderr:write((script.rehearsal() and "would make" or "made") .. " the new " .. what .. "\n")
end

-- product finds a product by id, or the newest one of a project or a mission.
function find.product(text)
  return (lookup.product(text))
end

-- any finds what a text names: its kind, and the record.
function find.any(text)
  local record, kind = lookup.any(text)
  return kind, record
end

-- project finds a project by name or id.
function find.project(text)
  return (lookup.project(text))
end

-- mission finds one mission of a project by name or id.
function find.mission(project, text)
  return (lookup.mission(text, { project = project }))
end

-- only_mission finds a mission by path, id, or by a name that no other mission has.
function find.only_mission(text)
  return (lookup.mission(text))
end

-- project_or_new finds a project by name or id, or makes it when create is true;
-- before, a function, is called first then and may refuse.
function find.project_or_new(text, create, before)
  local project = lookup.project(text, { missing_ok = create or false, otherwise = "--create makes a new one" })
  if project then
    return project
  end
  if before then
    before()
  end
  project = sdk.projects.find_or_create({ name = text })
  find.made("project " .. project.name)
  return project
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

-- target finds PROJECT or PROJECT/MISSION: project, and mission or nil. What does not exist is made when
-- create is given, a function of the project and the name that makes a mission; otherwise is the hint
-- without it. before is called before anything is made, and may refuse.
function find.target(text, create, otherwise, before)
  local place = lookup.place(text, { missing_ok = create ~= nil and create ~= false, otherwise = otherwise or "" })
  local project, mission = place.project, place.mission
  if before and (place.new_project or place.new_mission) then
    before()
  end
  if place.new_project then
    project = sdk.projects.find_or_create({ name = place.new_project })
    find.made("project " .. project.name)
  end
  if place.new_mission then
    mission = create(project, place.new_mission)
    find.made("mission " .. mission.name .. " in the project " .. project.name)
  end
  return project, mission
end

return find
