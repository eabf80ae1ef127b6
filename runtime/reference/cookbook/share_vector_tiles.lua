-- Share a vector layer by a URL that expires after a day
-- Rasters are shared in the same way, several at once.
local sdk, lookup = require("sdk"), require("lookup")
local project = lookup.project("North quarry")
local collection = sdk.collections.create{ name = "Outlines", features = {} }
local layer = sdk.datasets.create_vector_dataset{ name = "Outlines", project = project, collection = collection }
print((sdk.datasets.share_tiles(layer, { duration = 24 * 3600 }):gsub("access_token=.*", "access_token=…")))
--> …/{z}/{x}/{y}.pbf?access_token=…
