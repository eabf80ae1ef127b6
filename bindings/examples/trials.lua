local sdk = require("sdk")
local company = sdk.users.describe().company
local project = sdk.projects.create("Trial farm", company)
local field = sdk.fields.create{ company = company, project = project, name = "Long acre" }
local wheat = sdk.crops.create{ company = company, name = "wheat" }
local trial = sdk.trials.create{ field = field, crop = wheat, name = "Density 2026", season = "2026-03-01" }

-- trials.create
local area = { type = "Polygon", coordinates = { { { 1.40, 43.60 }, { 1.41, 43.60 }, { 1.41, 43.61 }, { 1.40, 43.60 } } } }
local nitrogen = sdk.trials.create{
  field = field, crop = wheat, name = "Nitrogen 2026", location = { type = "Feature", geometry = area },
  missions = { { name = "Emergence", start_date = "2026-04-01", end_date = "2026-04-10" } },
}
assert(#nitrogen.missions == 1)

-- trials.delete
sdk.trials.delete(trial)
assert(#sdk.trials.search{} == 0)

-- trials.describe
assert(sdk.trials.describe(trial).crop == wheat.id)

-- trials.search
assert(#sdk.trials.search{ filter = { field = { ["$eq"] = field.id } } } == 1)

-- trials.search_generator
for t in sdk.trials.search_generator{} do print(t.name, t.season) end

-- trials.set_dtm_dataset_on_trial
local terrain = sdk.datasets.create_raster_dataset{ name = "Terrain model", project = project }
sdk.trials.set_dtm_dataset_on_trial{ trial = trial, dataset = terrain }

-- trials.set_plots_on_trial
sdk.trials.set_plots_on_trial{ trial = trial, plots = { location = { type = "FeatureCollection", features = {
  { type = "Feature", properties = { plot = 1 }, geometry = { type = "Polygon",
    coordinates = { { { 1.40, 43.60 }, { 1.401, 43.60 }, { 1.401, 43.601 }, { 1.40, 43.60 } } } } },
} } } }

-- trials.update
local updated = sdk.trials.update(trial, { field = field, crop = wheat, comment = "three densities" })
assert(updated.comment == "three densities" and updated.name == "Density 2026")
