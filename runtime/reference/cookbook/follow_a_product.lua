-- Order an analytic, follow its log, and wait for its end
-- products.wait raises a RuntimeError when the product is not available in the end.
local sdk, lookup = require("sdk"), require("lookup")
local mission = lookup.mission("North quarry/May survey")
local product = sdk.analytics.order{ name = "flight_report", version = "1.x", inputs = { mission = mission } }
for line in sdk.products.follow_logs(product) do print(line.timestamp:sub(12, 19), line.record.message) end
print(sdk.products.wait(product).status)
--> available
