local sdk = require("sdk")
local company = sdk.users.describe().company
local function secret(name)
  return sdk.credentials.create{ name = name, company = company,
    credentials = { type = "docker", login = "robot", password = "rosebud", registry = "registry.example.com" } }
end
secret("registry")
local analytic = sdk.analytics.create{
  name = "stockpile_volumes", version = "1.0.0", company = company,
  container_image = "registry.example.com/stockpiles:1.0.0", container_credentials_name = "registry",
  inputs = { { name = "dsm", required = true } }, deliverables = { { name = "volumes", required = true } },
}

-- analytics.create
local newer = sdk.analytics.create{
  name = "stockpile_volumes", version = "1.1.0", company = company, display_name = "Stockpile volumes",
  container_image = "registry.example.com/stockpiles:1.1.0", container_credentials_name = "registry",
  instance_type = "small", volume_size = 20, tags = { "quarry" },
}
assert(newer.version == "1.1.0")

-- analytics.delete
sdk.analytics.delete(analytic)
assert(select(2, try(sdk.analytics.describe, analytic)).status == 404)

-- analytics.describe
assert(sdk.analytics.describe(analytic).inputs[1].name == "dsm")

-- analytics.describe_by_name
local highest = sdk.analytics.describe_by_name("stockpile_volumes", { version = "^1.0" })
assert(highest == analytic)
assert(sdk.analytics.describe_by_name("stockpile_volumes", { version = ">=2" }) == nil)

-- analytics.order
local product = sdk.analytics.order{ name = "rehearsal", version = "1.x", parameters = { duration = 0 } }
for line in sdk.products.follow_logs(product) do print(line.record.message) end
assert(sdk.products.describe(product).status == "available")

-- analytics.search
local versions = sdk.analytics.search{ name = "stockpile_volumes", sort = { version = -1 } }
assert(versions[1].version == "1.0.0")

-- analytics.search_generator
for a in sdk.analytics.search_generator{ fields = { include = { "name", "version" } } } do
  print(a.name, a.version)
end

-- analytics.expose
sdk.analytics.expose("stockpile_volumes", company)

-- analytics.unexpose
sdk.analytics.expose("stockpile_volumes", company)
sdk.analytics.unexpose("stockpile_volumes", company)

-- analytics.enable
sdk.analytics.expose("stockpile_volumes", company)
sdk.analytics.enable("stockpile_volumes", company)

-- analytics.disable
sdk.analytics.expose("stockpile_volumes", company)
sdk.analytics.enable("stockpile_volumes", company)
sdk.analytics.disable("stockpile_volumes", company)

-- analytics.set_container_credentials
secret("new registry")
sdk.analytics.set_container_credentials("stockpile_volumes", "1.0.0", company, "new registry")

-- analytics.assign_credentials
sdk.analytics.create{
  name = "weather", version = "1.0.0", company = company, credentials = { { name = "service" } },
  container_image = "registry.example.com/weather:1.0.0", container_credentials_name = "registry",
}
secret("weather service")
sdk.analytics.assign_credentials("weather", "1.x", company, { service = "weather service" })

-- analytics.unassign_credentials
sdk.analytics.create{
  name = "weather", version = "1.0.0", company = company, credentials = { { name = "service" } },
  container_image = "registry.example.com/weather:1.0.0", container_credentials_name = "registry",
}
secret("weather service")
sdk.analytics.assign_credentials("weather", "1.x", company, { service = "weather service" })
sdk.analytics.unassign_credentials("weather", "1.x", company, { "service" })

-- analytics.share_with_company
sdk.analytics.share_with_company(analytic, { company = company }) -- does nothing any more

-- analytics.unshare_with_company
sdk.analytics.unshare_with_company(analytic, { company = company }) -- does nothing any more
