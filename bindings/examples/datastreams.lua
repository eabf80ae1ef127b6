local sdk = require("sdk")
local template = sdk.datastreamtemplates.create{
  name = "Daily orthophotos", source = { type = "s3" }, import_dataset = { dataset_parameters = { type = "raster" } },
}
local stream = sdk.datastreams.create{
  name = "Quarry, daily", template = template, start_date = "2026-06-01", end_date = "2026-12-31",
  source = { url = "s3://surveys/quarry", regex = ".*\\.tif$" },
}

-- datastreams.create
local hourly = sdk.datastreams.create{
  name = "Quarry, hourly", template = template, start_date = "2026-06-01", end_date = "2026-06-30",
  source = { url = "s3://surveys/hourly", regex = ".*", synchronisation = { type = "continuous" } },
}
print(hourly.name)

-- datastreams.delete
sdk.datastreams.delete(stream)
assert(#sdk.datastreams.search{} == 0)

-- datastreams.describe
assert(sdk.datastreams.describe{ datastream = stream }.source.url == "s3://surveys/quarry")

-- datastreams.search
assert(#sdk.datastreams.search{ filter = { template = { ["$eq"] = template.id } } } == 1)

-- datastreams.search_generator
for s in sdk.datastreams.search_generator{} do print(s.name, s.start_date) end
