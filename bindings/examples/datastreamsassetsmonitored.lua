local sdk = require("sdk")

-- datastreamsassetsmonitored.search
for _, watched in ipairs(sdk.datastreamsassetsmonitored.search{ limit = 20 }) do
  print(watched.datastream, watched.asset)
end

-- datastreamsassetsmonitored.search_generator
local count = 0
for watched in sdk.datastreamsassetsmonitored.search_generator{} do count = count + 1 end
print(count .. " assets are watched")
