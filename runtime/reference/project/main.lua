-- List the projects one can see:
--
--   transect run --local main.lua --match north
--
-- transect doc shows what else there is.
local sdk, script, inspect = require("sdk"), require("script"), require("inspect")

local args = script.args({ _doc = "List projects.",
  match = { "string", default = "", doc = "only those whose name holds this text" } })

local filter = args.match ~= "" and { name = { ["$match"] = args.match } } or {}
local rows = {}
for project in sdk.projects.search_generator({ filter = filter }) do
  rows[#rows + 1] = { id = project.id, name = project.name, created = project.created }
end

if #rows == 0 then
  print("there is no such project")
else
  print(inspect.table(rows, { "id", "name", "created" }))
end
