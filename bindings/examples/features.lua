local sdk = require("sdk")
local collection = sdk.collections.create{ name = "Boreholes" }
local feature = sdk.features.create{
  collection = collection, geometry = { type = "Point", coordinates = { 5.72, 45.19 } }, properties = { depth = 12, dry = true },
}

-- features.create
local second = sdk.features.create{
  collection = collection, geometry = { type = "Point", coordinates = { 5.73, 45.19 } }, properties = { depth = 8 },
}
assert(second.properties.depth == 8)

-- features.create_features
local more = sdk.features.create_features{
  { collection = collection, geometry = { type = "Point", coordinates = { 5.74, 45.19 } } },
  { collection = collection, geometry = { type = "Point", coordinates = { 5.75, 45.19 } } },
}
assert(#more == 2)

-- features.add_attachments
local core = sdk.datasets.create_file_dataset{ name = "Core photo", company = sdk.users.describe().company }
sdk.features.add_attachments{ feature = feature, attachments = { core } }

-- features.remove_attachments
local core = sdk.datasets.create_file_dataset{ name = "Core photo", company = sdk.users.describe().company }
sdk.features.add_attachments{ feature = feature, attachments = { core } }
sdk.features.remove_attachments{ feature = feature, attachments = { core } }

-- features.delete
sdk.features.delete(feature) -- can be restored; with permanent = true it cannot
assert(#sdk.features.search{ filter = { collection = { ["$eq"] = collection.id } } } == 0)

-- features.restore
sdk.features.delete(feature)
sdk.features.restore(feature)
assert(sdk.features.describe(feature).id == feature.id)

-- features.describe
assert(sdk.features.describe(feature).properties.dry == true)

-- features.delete_feature_properties
local kept = sdk.features.delete_feature_properties(feature, { "dry" })
assert(kept.properties.dry == nil and kept.properties.depth == 12)

-- features.delete_features_properties
sdk.features.delete_features_properties{ features_properties = { [feature.id] = { "dry" } } }

-- features.update_feature_properties
local updated = sdk.features.update_feature_properties(feature, { depth = 13.5 })
assert(updated.properties.depth == 13.5 and updated.properties.dry == true)

-- features.update_features_properties
sdk.features.update_features_properties{ features_properties = { [feature.id] = { logged = "2026-05-31" } } }

-- features.set_geometry
sdk.features.set_geometry(feature, { geometry = { type = "Point", coordinates = { 5.721, 45.191 } } })

-- features.search
local deep = sdk.features.search{ filter = { collection = { ["$eq"] = collection.id }, ["properties.depth"] = { ["$gt"] = 10 } } }
assert(#deep == 1)

-- features.search_generator
for f in sdk.features.search_generator{ filter = { collection = { ["$eq"] = collection.id } } } do
  print(f.id, f.properties.depth)
end
