-- Delete projects, missions or datasets
local sdk, script, query = require("sdk"), require("script"), require("query")
local state, json = require("state"), require("json")
local find, show = require("lib.find"), require("lib.show")

local args = script.args({
  "names",
  _doc = [[
Delete projects, missions or datasets, after a question. Datasets can be restored for some time with transect restore;
projects and missions cannot. --dry-run shows what would be deleted.]],
  _example = [[
transect rm 'North quarry/May survey/DJI_0001.JPG'
transect rm --dry-run 'North quarry'
transect rm --yes 5f3c0e7a9b1d4c2e8f6a7b90]],
  names = {
    "strings",
    value = "NAME|ID",
    complete = "names",
    doc = "PROJECT, PROJECT/MISSION, PROJECT/MISSION/DATASET, or ids",
  },
  yes = { "boolean", short = "y", doc = "do not ask" },
  json = { "boolean", doc = "print one JSON object per deleted object" },
})
if #args.names == 0 then
  script.usage_error("missing argument NAME|ID", "see: transect rm --help")
end

-- What there is to delete, before anything is deleted.
local things, datasets, seen = {}, {}, {}
for _, name in ipairs(args.names) do
  local kind, record = find.any(name)
  if kind == "product" or kind == "analytic" then
    script.usage_error(
      ("%s is a %s: only projects, missions and datasets are deleted here"):format(name, kind),
      kind == "product" and "its outputs are datasets: transect show " .. record.id or nil
    )
  end
  if not seen[record.id] then
    seen[record.id] = true
    local what = ("the %s %s"):format(kind, record.name)
    if kind == "dataset" then
      datasets[#datasets + 1] = record.id
    else
      local n = sdk.datasets.search({ filter = query.eq(kind, record), limit = 1, return_total = true }).total
      what = ("%s with %s, which cannot be restored"):format(what, show.count(n, "dataset"))
    end
    things[#things + 1] = { kind = kind, id = record.id, name = name, what = what }
  end
end
for _, thing in ipairs(things) do
  show.note("delete " .. thing.what .. "  " .. thing.id)
end
if not args.yes and not script.confirm("Delete?", "give --yes to delete without a question") then
  show.note("nothing was deleted")
  script.exit(1)
end

local bin = state.open("transect rm") -- what restore finds by name
if #datasets > 0 then
  sdk.datasets.delete(datasets)
end
for _, thing in ipairs(things) do
  if thing.kind ~= "dataset" then
    sdk[thing.kind .. "s"].delete(thing.id)
  else
    bin:set(thing.name, thing.id)
  end
  if args.json then
    print(json.encode({ kind = thing.kind, id = thing.id, name = thing.name, deleted = not script.rehearsal() }))
  end
end
if script.rehearsal() then
  show.note("nothing was deleted")
elseif not args.json then
  print(("deleted %d"):format(#things))
  if #datasets > 0 then
    show.note("to restore: transect restore " .. table.concat(datasets, " ", 1, math.min(#datasets, 20)))
  end
end
