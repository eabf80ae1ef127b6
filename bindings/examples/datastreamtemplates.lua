local sdk = require("sdk")
local template = sdk.datastreamtemplates.create{
  name = "Daily orthophotos", source = { type = "s3" },
  import_dataset = { dataset_parameters = { type = "raster", categories = { "orthophoto" } } },
}

-- datastreamtemplates.create
local logs = sdk.datastreamtemplates.create{
  name = "Machine logs", source = { type = "ftp" }, import_dataset = { dataset_parameters = { type = "file" } },
  extra = { description = "one file a shift" },
}
assert(logs.name == "Machine logs")

-- datastreamtemplates.delete
sdk.datastreamtemplates.delete(template)
assert(#sdk.datastreamtemplates.search{} == 0)

-- datastreamtemplates.describe
assert(sdk.datastreamtemplates.describe{ template = template }.name == "Daily orthophotos")

-- datastreamtemplates.describes
assert(#sdk.datastreamtemplates.describes{ templates = { template } } == 1)

-- datastreamtemplates.search
local found = sdk.datastreamtemplates.search{ filter = { name = { ["$match"] = "ortho" } }, exclude = { "import" } }
assert(found[1].id == template.id)

-- datastreamtemplates.search_generator
for t in sdk.datastreamtemplates.search_generator{} do print(t.name) end
