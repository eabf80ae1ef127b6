-- Find files that were uploaded twice
-- Equal files have equal checksums.
local sdk = require("sdk")
local first = {}
for d in sdk.datasets.search_generator{ fields = { include = { "name", "components" } } } do
  for _, c in ipairs(d.components or {}) do
    if c.checksum and first[c.checksum] then
      print(d.name .. " is the same as " .. first[c.checksum])
    elseif c.checksum then
      first[c.checksum] = d.name
    end
  end
end
--> copy.jpg is the same as FLIGHT_0001.JPG
