-- What the workflows of this folder look up by name. Names are unique for
-- people, seldom for the platform: two of one name are refused, never guessed.
local sdk, query = require("sdk"), require("query")
local find = {}

local function one(kind, named, found)
  if #found == 1 then return found[1] end
  if #found == 0 then error("there is no " .. kind .. " " .. named .. ": see transect api " .. kind .. "s.search", 0) end
  local ids = {}
  for i, record in ipairs(found) do ids[i] = record.id end
  error(kind .. " " .. named .. " is not the only one of its name; give an id: " .. table.concat(ids, ", "), 0)
end

local function id(text) return #text == 24 and text:match("^%x+$") ~= nil end

-- project finds a project by name or id.
function find.project(named)
  if id(named) then return sdk.projects.describe(named) end
  return one("project", named, sdk.projects.search({ filter = query.eq("name", named), limit = 5 }))
end

-- missions lists the missions of a project, oldest first; those whose name
-- holds a text, when one is given.
function find.missions(project, match)
  local missions, filter = {}, query.eq("project", project)
  if match and match ~= "" then filter = query.all(filter, query.match("name", match)) end
  for m in sdk.missions.search_generator({ filter = filter, sort = { survey_date = 1 } }) do missions[#missions + 1] = m end
  return missions
end

-- mission finds one mission of a project by name or id.
function find.mission(project, named)
  if id(named) then return sdk.missions.describe(named) end
  return one("mission", named, sdk.missions.search({ filter = query.all(query.eq("project", project), query.eq("name", named)), limit = 5 }))
end

return find
