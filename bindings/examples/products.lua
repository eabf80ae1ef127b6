local sdk = require("sdk")
local product = sdk.analytics.order{ name = "rehearsal", parameters = { duration = 0 } }

-- products.cancel
local long = sdk.analytics.order{ name = "rehearsal", parameters = { duration = 60 } }
local cancelled = sdk.products.cancel(long)
print(cancelled.status)

-- products.describe
local described = sdk.products.describe(product)
assert(described.id == product.id)
print(described.status)

-- products.retrieve_logs
for _ in sdk.products.follow_logs(product) do end -- until it has ended
local written = sdk.products.retrieve_logs(product)
print(written.total)
for _, line in ipairs(written.logs) do print(line.timestamp, line.record.message) end

-- products.follow_logs
local lines = 0
for line in sdk.products.follow_logs(product) do
  lines = lines + 1
  print(line.timestamp:sub(12, 19), line.record.message)
end
assert(lines > 0 and sdk.products.describe(product).status == "available")

-- products.wait
local finished = sdk.products.wait(product, { timeout = 60, on_change = function(p) print(p.status) end })
assert(finished.status == "available")

-- products.download_outputs
sdk.products.wait(product)
for _, file in ipairs(sdk.products.download_outputs(product, { target_path = "out", overwrite = true })) do
  print(file.path, file.bytes, file.skipped)
end

-- products.search
local mine = sdk.products.search{ filter = { status = { ["$in"] = { "pending", "running", "available" } } }, limit = 5 }
assert(#mine == 1)

-- products.search_generator
for p in sdk.products.search_generator{ sort = { creation_date = -1 } } do
  print(p.id, p.status)
end
