-- Upload one file and wait until the platform has read it
-- transect run upload_one_file.lua flight/FLIGHT_0002.JPG
local sdk, lookup, path = require("sdk"), require("lookup"), require("path")
local project = lookup.project("North quarry")
local d = sdk.datasets.create_file_dataset{ name = path.base(arg[1]), project = project }
sdk.datasets.upload_file(d, { component = "file", file_path = arg[1] })
print(sdk.datasets.wait(d).completed .. " ingested")
--> 1 ingested
