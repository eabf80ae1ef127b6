-- List the products that failed, with the last lines of their logs
-- status is one of pending, running, available, failed, rejected, cancelled.
local sdk, query = require("sdk"), require("query")
for product in sdk.products.search_generator{ filter = query.one_of("status", { "failed", "rejected" }) } do
  print(product.analytic_name, product.id)
  local logs = sdk.products.retrieve_logs(product).logs
  for i = math.max(1, #logs - 2), #logs do print("  " .. tostring(logs[i].record.message)) end
end
--> rehearsal …
--> failed, as ordered
