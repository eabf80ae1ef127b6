-- What a plan can name: how each kind of record is made, found, changed and deleted.
local sdk, fs = require("sdk"), require("fs")
local kinds = {}
local me = sdk.users.describe()
local company = me.company

local function named(name) return { filter = { name = { ["$eq"] = name } } } end

-- kind declares one. Without change the plan deletes the record, and nobody can change it.
local function kind(manager, make, change, delete)
  kinds[manager] = {
    make = make,
    change = change,
    delete = delete or function(r) sdk[manager].delete(r) end,
    find = function(name) return sdk[manager].search(named(name)) end,
  }
end

local function first(manager, make)
  return function()
    return sdk[manager].search(named("base"))[1] or make()
  end
end
local project = first("projects", function() return sdk.projects.create("base", company) end)
local team = first("teams", function() return sdk.teams.create({ company = company, name = "base" }) end)
local crop = first("crops", function() return sdk.crops.create({ company = company, name = "base" }) end)
local field = first("fields", function()
  return sdk.fields.create({ company = company, project = project(), name = "base" })
end)
local function renames(manager)
  return function(r, name) sdk[manager].rename(r, { name = name }) end
end
local at = { type = "Point", coordinates = { 5.7, 45.1 } }

kind("projects", function(name) return sdk.projects.create(name, company) end,
  function(r, name) sdk.projects.update_name(r, { name = name }) end)
kind("missions", function(name)
  return sdk.missions.create_mission({ project = project(), name = name, survey_date = "2026-05-01" })
end, function(r, name) sdk.missions.update_name(r, { name = name }) end)
kind("flights", function(name)
  return (sdk.missions.create({ project = project(), name = name, survey_date = "2026-05-31", number_of_images = 1,
    coordinates = { { 5.7, 45.1 }, { 5.8, 45.1 }, { 5.8, 45.2 }, { 5.7, 45.1 } } }))
end, function(r, name) sdk.flights.update_name(r, { name = name }) end, function(r)
  sdk.missions.delete(r.mission)
end)
kind("datasets", function(name) return sdk.datasets.create_file_dataset({ name = name, project = project() }) end,
  renames("datasets"))
kind("annotations", function(name)
  return sdk.annotations.create({ project = project(), name = name, geometry = at })
end, renames("annotations"))
kind("crops", function(name) return sdk.crops.create({ company = company, name = name }) end,
  function(r, name) sdk.crops.update({ crop = r, name = name }) end)
kind("fields", function(name) return sdk.fields.create({ company = company, project = project(), name = name }) end,
  function(r, name) sdk.fields.update({ field = r, project = project(), name = name }) end)
kind("growth_stages", function(name)
  return sdk.growth_stages.create({ crop = crop(), name = name, company = company })
end, function(r, name) sdk.growth_stages.update({ growth_stage = r, name = name }) end)
kind("trials", function(name) return sdk.trials.create({ field = field(), crop = crop(), name = name }) end,
  function(r, text) sdk.trials.update(r, { field = field(), crop = crop(), comment = text }) end)
kind("estimation_methods", function(name)
  return sdk.estimation_methods.create({ name = name, companies = company, crops = { crop() },
    input_data_requirements = { sensor_type = "rgb" },
    analytic = { name = "rehearsal", version_range = "1.x", parameters = { duration = 0 } } })
end, function(r, name) sdk.estimation_methods.update({ estimation_method = r, crops = { crop() }, name = name }) end)
kind("teams", function(name) return sdk.teams.create({ company = company, name = name }) end, renames("teams"))
kind("collection_tasks", function(name)
  return sdk.collection_tasks.create({ name = name, company = company, team = team(), purpose = "mapping" })
end, renames("collection_tasks"))
kind("analytic_configurations", function(name)
  return sdk.analytic_configurations.create(name, "rehearsal", { duration = 1 })
end, function(r, text)
  sdk.analytic_configurations.update(r, { value = { duration = #text }, analytic_version_range = "*" })
end)
kind("oauth_clients", function(name) return sdk.oauth_clients.create(name) end)
kind("analytics", function(name)
  local secret = { type = "docker", login = "robot", password = "rosebud", registry = "registry.example.com" }
  if not sdk.credentials.search({ name = "registry" })[1] then
    sdk.credentials.create({ name = "registry", company = company, credentials = secret })
  end
  local version = "1." .. #sdk.analytics.search(named(name)) .. ".0"
  return sdk.analytics.create({ name = name, version = version, company = company,
    container_image = "registry.example.com/a:1", container_credentials_name = "registry" })
end)
kind("products", function(name)
  return sdk.analytics.order({ name = "rehearsal", project = sdk.projects.find_or_create({ name = name }),
    parameters = { duration = 3600 } })
end, nil, function(r) sdk.products.cancel(r) end)
kinds.products.find = function(name)
  local of = sdk.projects.search(named(name))[1]
  return sdk.products.search({ filter = { project = { ["$eq"] = of.id }, status = { ["$ne"] = "cancelled" } } })
end
kind("carriers", function(name)
  local model = sdk.carrier_models.search(named("base"))[1]
    or sdk.carrier_models.create({ name = "base", maker = "Aero", type = "multirotor" })
  return sdk.carriers.create({ carrier_model = model, team = team(), serial_number = name })
end)
kinds.carriers.find = function(name) return sdk.carriers.search({ filter = { serial_number = { ["$eq"] = name } } }) end

-- Share tokens are known by what they share.
kind("share_tokens", function(name)
  local map = sdk.datasets.search(named(name .. " map"))[1]
    or sdk.datasets.create_raster_dataset({ name = name .. " map", project = project() })
  return sdk.share_tokens.create(map)
end, nil, function(r) sdk.share_tokens.revoke(r.token) end)
kinds.share_tokens.find = function(name)
  local map = sdk.datasets.search(named(name .. " map"))[1]
  return sdk.share_tokens.search({ filter = { ["scope.datasets"] = { ["$eq"] = map.id } } })
end

-- What cannot be searched is known by its id; another one of the name is none of the plan's.
local function known(manager, make, change)
  kind(manager, function(name)
    local r = make(name)
    fs.write(manager .. " " .. name .. ".id", r.id)
    return r
  end, change)
  kinds[manager].alone = true
  kinds[manager].find = function(name)
    return { sdk[manager].describe(fs.read(manager .. " " .. name .. ".id")) }
  end
end
known("collections", function(name) return sdk.collections.create({ name = name }) end)
known("features", function(name)
  return sdk.features.create({ collection = sdk.collections.create({ name = name }), geometry = at })
end, function(r, text)
  sdk.features.update_feature_properties({ feature = r, properties = { text = text } })
end)
kind("tags", function(name) return sdk.tags.create(name, { project = project(), type = "project" }) end)
kinds.tags.find = function(name)
  local found = {}
  for _, t in ipairs(sdk.tags.search({ project = project(), type = "project" })) do
    if t.name == name then found[#found + 1] = t end
  end
  return found
end
return kinds
