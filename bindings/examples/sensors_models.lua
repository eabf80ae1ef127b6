local sdk = require("sdk")
local model = sdk.sensors_models.create{ name = "Eye 20", maker = "Optics", type = "rgb" }

-- sensors_models.create
local spectral = sdk.sensors_models.create{
  name = "Spectra 5", maker = "Optics", type = "ms", width = 1280, height = 960, weight = { value = 230, unit = "g" },
  bands = { { name = "red", central_wavelength = 650 }, { name = "near infrared", central_wavelength = 840 } },
}
assert(#spectral.bands == 2)

-- sensors_models.delete
sdk.sensors_models.delete(model)
assert(#sdk.sensors_models.search{} == 0)

-- sensors_models.describe
assert(sdk.sensors_models.describe(model).name == "Eye 20")

-- sensors_models.search
assert(#sdk.sensors_models.search{ filter = { type = { ["$in"] = { "rgb", "ms" } } } } == 1)

-- sensors_models.search_generator
for m in sdk.sensors_models.search_generator{} do print(m.name, m.type) end
