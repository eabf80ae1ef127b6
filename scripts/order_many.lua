-- Order an analytic for the missions of a project and follow all of them:
--
--   transect run --local scripts/order_many.lua "Surveys" --match 2026-05
--
-- Run it again: a mission whose order is under way is followed, one that has its
-- result is left alone, one that failed is ordered anew.
local sdk, script, inspect, json = require("sdk"), require("script"), require("inspect"), require("json")
local query, find = require("query"), require("lib.find")

local args = script.args({ "project", _doc = "Order an analytic for the missions of a project and follow all of them.",
  project = { "string", doc = "project, by name or id" },
  analytic = { "string", default = "flight_report", doc = "name of the analytic" },
  version = { "string", default = "1.x", doc = "version, or range of versions" },
  match = { "string", default = "", doc = "only missions whose name contains this text" },
  input = { "string", default = "mission", doc = "input of the analytic that takes the mission" },
  parameters = { "string", default = "{}", doc = "parameters of each order, as JSON" },
  again = { "boolean", doc = "also order where there is a result" },
  quiet = { "boolean", doc = "do not print the logs" } })

local project = find.project(args.project)
script.lock("order " .. args.analytic .. " " .. project.id)
local analytic = sdk.analytics.describe_by_name(args.analytic, { version = args.version })
if not analytic then error("there is no version " .. args.version .. " of the analytic " .. args.analytic, 0) end
local takes = false
for _, input in ipairs(analytic.inputs or {}) do takes = takes or input.name == args.input end
local missions = find.missions(project, args.match)
if #missions == 0 then
  print("there are no missions to order for")
  script.exit(0)
end

-- The orders: those under way, those that are done, and new ones.
local parameters, products, names, failed = json.decode(args.parameters), {}, {}, 0
for _, mission in ipairs(missions) do
  local standing = args.again and { "pending", "running" } or { "pending", "running", "available" }
  local ordered_before = query.all(query.eq("mission", mission), query.eq("analytic", analytic),
    query.one_of("status", standing))
  local before = sdk.products.search({ limit = 1, sort = { creation_date = -1 }, filter = ordered_before })
  local product = before[1]
  if not product then
    local inputs = takes and { [args.input] = mission.id } or nil
    local ordered, err = try(sdk.analytics.order, analytic,
      { inputs = inputs, parameters = parameters, project = project, mission = mission })
    if err and err.name ~= "ResponseError" then error(err, 0) end -- not this mission's fault: stop
    if err then
      failed = failed + 1
      print("not ordered: " .. mission.name .. ": " .. err)
    end
    product = ordered
  end
  if product then
    products[#products + 1] = product
    names[product.id] = mission.name
  end
end

-- Their logs in order of time, until the last one has ended.
local running = {}
for _, p in ipairs(products) do
  if p.status ~= "available" then running[#running + 1] = p.id end
end
if #running > 0 then
  for line in sdk.products.follow_logs(running) do
    if not args.quiet then print(line.timestamp:sub(12, 19), names[line.product], line.record.message) end
  end
end

local rows = {}
for _, ordered in ipairs(products) do
  local product = sdk.products.describe(ordered)
  if product.status ~= "available" then failed = failed + 1 end
  rows[#rows + 1] = { mission = names[product.id], product = product.id, status = product.status,
    outputs = #(product.outputs or {}) }
end
print(inspect.table(rows, { "mission", "product", "status", "outputs" }))
script.fail_items(failed, #missions)
