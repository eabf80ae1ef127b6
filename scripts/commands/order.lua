-- Order an analytic for a mission
local sdk, script, query, json = require("sdk"), require("script"), require("query"), require("json")
local find, show = require("lib.find"), require("lib.show")

local args = script.args({
  "analytic",
  _doc = "Order an analytic for a mission. The product's id is printed; transect logs and transect wait take it.",
  _example = [[
transect order flight_report --on 'North quarry/May survey'
transect order flight_report --on 'May survey' --version 1.x --follow
transect order stockpiles --on 'May survey' --parameter cell=0.5 --input dsm='North quarry/May survey/dsm.tif']],
  analytic = { "string", complete = "analytics", doc = "analytic, by name or id" },
  on = {
    "string",
    value = "MISSION",
    complete = "missions",
    doc = "mission: PROJECT/MISSION, a unique name, or an id",
  },
  version = {
    "string",
    optional = true,
    value = "RANGE",
    doc = "version or range such as 1.x; the highest when left out",
  },
  input = {
    "strings",
    optional = true,
    value = "NAME=WHAT",
    doc = "a further input, WHAT by name or id; may be repeated",
  },
  parameter = { "strings", optional = true, value = "NAME=VALUE", doc = "a parameter; may be repeated" },
  deliverable = {
    "strings",
    optional = true,
    value = "NAME",
    doc = "an optional deliverable to make; may be repeated",
  },
  follow = { "boolean", short = "f", doc = "print the log until the product has ended" },
  wait = { "boolean", doc = "wait until the product has ended" },
  json = { "boolean", doc = "print the product as JSON" },
})

local mission = find.only_mission(args.on)
local analytic = args.analytic:match("^%x+$") and #args.analytic == 24 and sdk.analytics.describe(args.analytic)
  or sdk.analytics.describe_by_name(args.analytic, { version = args.version })
if not analytic then
  local known, seen, versions = {}, {}, {}
  for _, a in ipairs(sdk.analytics.search({ fields = { include = { "name", "version" } }, limit = 1000 })) do
    if a.name == args.analytic then
      versions[#versions + 1] = a.version
    end
    if not seen[a.name] then
      known[#known + 1] = a.name
    end
    seen[a.name] = true
  end
  if #versions > 0 then
    table.sort(versions)
    script.usage_error(
      ("there is no version %s of the analytic %s"):format(args.version, args.analytic),
      "there are " .. table.concat(versions, ", ")
    )
  end
  table.sort(known)
  script.usage_error(
    "there is no analytic " .. args.analytic,
    show.suggestion(args.analytic, known, "the analytics are: " .. table.concat(known, ", "))
  )
end

-- pairs_of reads NAME=VALUE.
local function pairs_of(flag, texts, declared, convert)
  local values, known = {}, {}
  for i, d in ipairs(declared or {}) do
    known[i] = d.name
  end
  for _, text in ipairs(texts) do
    local name, value = text:match("^([^=]+)=(.*)$")
    if not name then
      script.usage_error(("--%s %s is not NAME=VALUE"):format(flag, text))
    end
    local found = false
    for _, k in ipairs(known) do
      found = found or k == name
    end
    if not found then
      script.usage_error(
        ("%s %s has no %s %s"):format(analytic.name, analytic.version, flag, name),
        show.suggestion(name, known, #known > 0 and "it has " .. table.concat(known, ", ") or nil)
      )
    end
    values[name] = convert(value)
  end
  return values
end
local parameters = pairs_of("parameter", args.parameter, analytic.parameters, function(text)
  local value, err = try(json.decode, text)
  if err then
    return text
  end
  return value
end)
local inputs = pairs_of("input", args.input, analytic.inputs, function(text)
  local _, record = find.any(text)
  return record.id
end)
local missing = {}
for _, input in ipairs(analytic.inputs or {}) do
  local takes = input.name == "mission" or input.source and input.source.resource == "mission"
  if takes and not inputs[input.name] then
    inputs[input.name] = mission.id
  end
  if input.required and not inputs[input.name] then
    missing[#missing + 1] = "--input " .. input.name .. "=…"
  end
end
if #missing > 0 then
  script.usage_error(
    ("%s %s needs more inputs"):format(analytic.name, analytic.version),
    "give " .. table.concat(missing, " ")
  )
end

local product = sdk.analytics.order(analytic, {
  inputs = next(inputs) and inputs or nil,
  parameters = next(parameters) and parameters or nil,
  deliverables = #args.deliverable > 0 and args.deliverable or nil,
  project = mission.project,
  mission = mission,
})
if script.rehearsal() then
  script.exit()
end
if not args.json then
  print(product.id)
end
show.note(("ordered %s %s for %s"):format(analytic.name, analytic.version, mission.name))
if args.follow then
  for line in sdk.products.follow_logs(product) do
    show.note(line.timestamp:sub(12, 19) .. "  " .. line.record.message)
  end
end
if args.follow or args.wait then
  product = sdk.products.wait(product, { must_succeed = false })
end
if args.json then
  print(json.encode(product))
end
if args.follow or args.wait then
  show.note(("%s: %s, %s"):format(analytic.name, product.status, show.count(#(product.outputs or {}), "output")))
  if product.status ~= "available" then
    script.fail_items(1, 1)
  end
elseif not args.json then
  show.note("follow it with: transect logs -f " .. product.id)
end
