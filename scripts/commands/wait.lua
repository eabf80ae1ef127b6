-- Wait for products to finish and uploads to be ingested
local sdk, script, query, json = require("sdk"), require("script"), require("query"), require("json")
local find, show = require("lib.find"), require("lib.show")

local args = script.args({
  "names",
  _reads = true,
  _doc = [[
Wait for products to finish, and for the uploaded files of projects, missions and datasets to be ingested.
Exit code 0 when all succeeded, 3 when something failed, 10 when --timeout passed.]],
  _example = [[
transect wait 5f3c0e7a9b1d4c2e8f6a7b90
transect wait 'North quarry/May survey' --timeout 1h]],
  names = {
    "strings",
    value = "NAME|ID",
    complete = "names",
    doc = "products by id; projects, missions and datasets by name or id",
  },
  any = { "boolean", doc = "of several products, wait only for the first to end" },
  json = { "boolean", doc = "print one JSON object per object waited for" },
})

local products, sets = {}, {}
for _, name in ipairs(args.names) do
  local kind, record = find.any(name)
  if kind == "product" then
    products[#products + 1] = record
  elseif kind == "analytic" then
    script.usage_error(name .. " is an analytic: there is nothing to wait for")
  else
    sets[#sets + 1] = { name = name, kind = kind, record = record }
  end
end
if #args.names == 0 then
  script.usage_error("missing argument NAME|ID", "see: transect wait --help")
end

local failed = 0
for _, set in ipairs(sets) do
  local of = set.kind == "dataset" and query.eq("_id", set.record.id) or query.eq(set.kind, set.record)
  local state = sdk.datasets.wait({
    filter = of,
    on_change = function(s)
      if s.pending > 0 and not args.json then
        show.note(("%s: %s to be read"):format(set.name, show.count(s.pending, "dataset")))
      end
    end,
  })
  local total = sdk.datasets.search({ filter = of, limit = 1, return_total = true }).total
  local empty = total - state.completed - state.failed - state.pending
  failed = failed + state.failed + empty
  if args.json then
    print(
      json.encode({
        name = set.name,
        id = set.record.id,
        kind = set.kind,
        completed = state.completed,
        failed = state.failed,
        never_uploaded = empty,
      })
    )
  else
    local without = empty > 0 and (", %d never uploaded: put their files again"):format(empty) or ""
    print(("%s: %s read, %d failed%s"):format(set.name, show.count(state.completed, "dataset"), state.failed, without))
  end
  if set.kind ~= "dataset" then
    local unfinished = query.all(of, query.one_of("status", { "pending", "running" }))
    for p in sdk.products.search_generator({ filter = unfinished }) do
      products[#products + 1] = p
    end
  end
end
if #products > 0 then
  local ended = sdk.products.wait(products, {
    must_succeed = false,
    any = args.any,
    on_change = function(p)
      if not args.json then
        show.note(p.id .. ": " .. p.status)
      end
    end,
  })
  for _, p in ipairs(ended) do
    local over = p.status ~= "pending" and p.status ~= "running"
    if over and p.status ~= "available" then
      failed = failed + 1
    end
    if args.json then
      print(json.encode(p))
    else
      print(p.id .. ": " .. p.status)
    end
  end
end
if failed > 0 then
  script.fail_items(failed)
end
