-- Restore deleted datasets
local sdk, script, query = require("sdk"), require("script"), require("query")
local state, json = require("state"), require("json")
local show = require("lib.show")

local args = script.args({
  "names",
  _doc = "Restore deleted datasets: by id, or by the name that transect rm was given on this machine.",
  _example = [[
transect restore 5f3c0e7a9b1d4c2e8f6a7b90
transect restore 'North quarry/May survey/DJI_0001.JPG']],
  names = { "strings", value = "NAME|ID", doc = "datasets" },
  json = { "boolean", doc = "print one JSON object per dataset" },
})
if #args.names == 0 then
  script.usage_error("missing argument NAME|ID", "see: transect restore --help")
end

local bin, ids = state.open("transect rm"), {}
for i, name in ipairs(args.names) do
  ids[i] = #name == 24 and name:match("^%x+$") or bin:get(name)
  if not ids[i] then
    script.usage_error(
      "transect rm deleted no dataset " .. name .. " on this machine",
      show.suggestion(name, bin:keys(), "give the dataset's id; projects and missions cannot be restored")
    )
  end
end
for first = 1, #ids, 100 do
  local some = {}
  for i = first, math.min(first + 99, #ids) do
    some[#some + 1] = ids[i]
  end
  sdk.datasets.restore(some)
end

-- contents identifies the files of a dataset.
local function contents(dataset)
  local sums = {}
  for i, c in ipairs(dataset.components or {}) do
    sums[i] = c.name .. " " .. tostring(c.checksum)
  end
  return table.concat(sums, "\n")
end

-- note_same_file says when the file was sent again while its dataset was deleted.
local function note_same_file(dataset)
  local location = dataset.mission and query.eq("mission", dataset.mission) or query.eq("project", dataset.project)
  local filter = query.all(query.eq("name", dataset.name), location)
  for _, other in ipairs(sdk.datasets.search({ filter = filter, limit = 10 })) do
    if other.id ~= dataset.id and other.mission == dataset.mission and contents(other) == contents(dataset) then
      local text = "%s now exists twice: dataset %s was created on %s; "
        .. "to delete the restored one again: transect rm %s"
      show.note(text:format(dataset.name, other.id, show.day(other.creation_date), dataset.id))
    end
  end
end

for i, id in ipairs(ids) do
  bin:delete(args.names[i])
  local dataset = not script.rehearsal() and sdk.datasets.describe(id)
  if args.json then
    print(json.encode(dataset or { id = id }))
  else
    local done = dataset and "restored" or "would restore"
    print(("%s %s  %s"):format(done, dataset and dataset.name or args.names[i], id))
  end
  if dataset then
    note_same_file(dataset)
  end
end
