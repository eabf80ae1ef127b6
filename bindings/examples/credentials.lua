local sdk = require("sdk")
local company = sdk.users.describe().company
local credential = sdk.credentials.create{
  name = "registry", company = company,
  credentials = { type = "docker", login = "robot", password = "rosebud", registry = "registry.example.com" },
}

-- credentials.create
local bucket = sdk.credentials.create{
  name = "survey bucket", company = company, labels = { bucket = "surveys" },
  credentials = { type = "s3", cloud_access_key_id = "key", cloud_secret_access_key = "secret", cloud_region = "eu-west-1" },
}
assert(bucket.name == "survey bucket")

-- credentials.delete
sdk.credentials.delete(credential)
assert(#sdk.credentials.search{} == 0)

-- credentials.search
for _, c in ipairs(sdk.credentials.search{ name = "registry" }) do print(c.name, c.id) end

-- credentials.search_generator
for c in sdk.credentials.search_generator{} do print(c.name) end

-- credentials.set_credentials
sdk.credentials.set_credentials(company, "registry", { type = "docker", login = "robot", password = "new rosebud" })

-- credentials.set_labels
sdk.credentials.set_labels(company, "registry", { use = "analytics" })
