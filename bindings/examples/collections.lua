local sdk, fs, json = require("sdk"), require("fs"), require("json")
local collection = sdk.collections.create{ name = "Boreholes" }

-- collections.create
local wells = sdk.collections.create{ name = "Wells", properties = { owner = "city" } }
assert(wells.name == "Wells")

-- collections.create_collections
local two = sdk.collections.create_collections{ { name = "North" }, { name = "South" } }
assert(#two == 2)

-- collections.delete
sdk.collections.delete(collection, { permanent = true })
assert(select(2, try(sdk.collections.describe, collection)).status == 404)

-- collections.describe
assert(sdk.collections.describe(collection).name == "Boreholes")

-- collections.export
sdk.features.create{ collection = collection, geometry = { type = "Point", coordinates = { 5.72, 45.19 } } }
local path = sdk.collections.export(collection, "out", "boreholes.geojson")
assert(#json.decode(fs.read(path)).features == 1)

-- collections.restore
sdk.collections.delete(collection)
sdk.collections.restore(collection)
assert(sdk.collections.describe(collection).name == "Boreholes")
