-- Finds what people name on the command line, and creates what is missing where a command allows it.
-- The module lookup only finds.
local sdk, query, script, lookup = require("sdk"), require("query"), require("script"), require("lookup")
local find = {}

-- made tells people what was created, or would be.
function find.made(what)
  io.stderr:write((script.rehearsal() and "would make" or "made") .. " the new " .. what .. "\n")
end

-- product finds a product by id, or the newest one of a project or a mission.
function find.product(text)
  return lookup.product(text)
end

-- any finds what a text names. It returns its kind and the record.
function find.any(text)
  local record, kind = lookup.any(text)
  return kind, record
end

-- project finds a project by name or id.
function find.project(text)
  return lookup.project(text)
end

-- mission finds one mission of a project by name or id.
function find.mission(project, text)
  return lookup.mission(text, { project = project })
end

-- only_mission finds a mission by path, id, or by a name that no other mission has.
function find.only_mission(text)
  return lookup.mission(text)
end

-- new_project finds or creates a project; platform is that of the run when left out.
function find.new_project(name, platform)
  local project, created = (platform or sdk).projects.find_or_create({ name = name })
  if created then
    find.made("project " .. project.name)
  end
  return project
end

-- project_or_new finds a project by name or id, or creates it when create is true; before, a function, is
-- called before that and may raise an error.
function find.project_or_new(text, create, before)
  local project = lookup.project(text, { missing_ok = create or false, otherwise = "--create makes a new one" })
  if project then
    return project
  end
  if before then
    before()
  end
  return find.new_project(text)
end

-- missions lists the missions of a project, oldest first; given match, those whose names contain it.
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

-- target finds PROJECT or PROJECT/MISSION. It returns the project, and the mission or nil. create, a function of
-- the project and a name, creates what is missing, and returns the mission and whether it was created; without it,
-- what is missing is an error with the hint otherwise. before, a function, is called before anything is created and
-- may raise an error.
function find.target(text, create, otherwise, before)
  local place = lookup.place(text, { missing_ok = create ~= nil and create ~= false, otherwise = otherwise or "" })
  local project, mission = place.project, place.mission
  if before and (place.new_project or place.new_mission) then
    before()
  end
  if place.new_project then
    project = find.new_project(place.new_project)
  end
  if place.new_mission then
    local created
    mission, created = create(project, place.new_mission)
    if created then
      find.made("mission " .. mission.name .. " in the project " .. project.name)
    end
  end
  return project, mission
end

return find
