-- Print the log of a product
local sdk, script, json = require("sdk"), require("script"), require("json")
local find, show = require("lib.find"), require("lib.show")

local args = script.args({
  "product",
  _reads = true,
  _doc = "Print the log of a product.",
  _example = [[
transect logs -f 5f3c0e7a9b1d4c2e8f6a7b90
transect logs 'North quarry/May survey/flight_report']],
  product = { "string", complete = "products", doc = "id, or PROJECT/MISSION[/ANALYTIC] for the newest one there" },
  follow = { "boolean", short = "f", doc = "follow until the product has ended; exit code 3 when it failed" },
  json = { "boolean", doc = "print one JSON object per line" },
})

local function write(line)
  if args.json then
    print(json.encode({ timestamp = line.timestamp, record = line.record, product = line.product }))
  else
    print(
      tostring(line.timestamp):sub(1, 19):gsub("T", " ")
        .. "  "
        .. tostring(line.record.message or json.encode(line.record))
    )
  end
end

local product = find.product(args.product)
if not args.follow then
  local lines = sdk.products.retrieve_logs(product).logs
  for _, line in ipairs(lines) do
    write(line)
  end
  if #lines == 0 and not args.json then
    show.note("there is no log yet; the product is " .. product.status)
  end
  script.exit(0)
end
for line in sdk.products.follow_logs(product) do
  write(line)
end
product = sdk.products.describe(product)
if not args.json then
  show.note("the product is " .. product.status)
end
if product.status ~= "available" then
  script.fail_items(1, 1)
end
