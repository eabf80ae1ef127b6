-- Find datasets nobody has any use for, and delete them when told to:
--
--   transect run --local scripts/tidy_up.lua "Surveys"             # lists them
--   transect run --local scripts/tidy_up.lua "Surveys" --delete    # deletes them
--
-- Orphaned are: a dataset whose upload was begun and not completed, days ago;
-- one whose ingestion failed; one whose mission no longer exists. What a product
-- made, or was made from, is never touched. Deleted datasets can be restored for
-- some time: datasets.restore takes the ids of the list.
local sdk, script, inspect, query = require("sdk"), require("script"), require("inspect"), require("query")
local time, csv, find = require("time"), require("csv"), require("lib.find")

local args = script.args({ "project", _doc = "Find orphaned datasets of a project, and delete them if requested.",
  project = { "string", doc = "project, by name or id" },
  days = { "number", default = 7, doc = "age in days after which an unfinished upload counts as abandoned" },
  keep_failed = { "boolean", doc = "leave datasets whose ingestion failed" },
  list = { "string", optional = true, doc = "CSV file for the list" },
  delete = { "boolean", doc = "delete them; without it they are listed" } })

local project = find.project(args.project)
local missions, used = {}, {}
for _, m in ipairs(find.missions(project)) do missions[m.id] = true end

-- Ids in inputs and outputs of products, however deep they lie.
local function note(value)
  if type(value) == "string" then used[value] = true end
  if type(value) == "table" then for _, v in pairs(value) do note(v) end end
end
for product in sdk.products.search_generator({ filter = query.eq("project", project) }) do
  note(product.inputs)
  note(product.outputs)
end

local function why(dataset)
  local status = dataset.ingestion and dataset.ingestion.status
  if dataset.mission and not missions[dataset.mission] then return "its mission no longer exists" end
  local age = time.now() - time.parse(dataset.creation_date)
  if status == "pending" and age > args.days * 86400 then return "its upload was abandoned" end
  if status == "failed" and not args.keep_failed then return "its ingestion failed" end
end

local rows, ids = {}, {}
for dataset in sdk.datasets.search_generator({ filter = query.eq("project", project), keyset_pagination = true }) do
  local reason = not used[dataset.id] and why(dataset)
  if reason then
    ids[#ids + 1] = dataset.id
    rows[#rows + 1] = { id = dataset.id, name = dataset.name, type = dataset.type, created = dataset.creation_date,
      reason = reason }
  end
end
if #rows == 0 then
  print("the project " .. project.name .. " is tidy")
  script.exit(0)
end
local columns = { "id", "name", "type", "created", "reason" }
print(inspect.table(rows, columns))
if args.list then csv.write(args.list, rows, { header = columns }) end
if not args.delete then
  print(("%d datasets; nothing was deleted: --delete deletes them"):format(#rows))
  script.exit(0)
end

local step = 100 -- ids in one request
for first = 1, #ids, step do
  local some = {}
  for i = first, math.min(first + step - 1, #ids) do some[#some + 1] = ids[i] end
  sdk.datasets.delete(some)
end
print(("%d datasets deleted"):format(#ids))
