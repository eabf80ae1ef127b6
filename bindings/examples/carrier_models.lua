local sdk = require("sdk")
local wing = sdk.carrier_models.create{ name = "Wing 3", maker = "Aero", type = "fixed-wing" }

-- carrier_models.create
local camera = sdk.sensors_models.create{ name = "Eye 20", maker = "Optics", type = "rgb" }
local quad = sdk.carrier_models.create{
  name = "Quad 4", maker = "Aero", type = "multirotor", unloaded_weight = { value = 3.2, unit = "kg" },
  flight_time = { value = 38, unit = "min" }, compatible_sensor_models = { camera },
}
assert(quad.compatible_sensor_models[1] == camera.id)

-- carrier_models.delete
sdk.carrier_models.delete(wing)
assert(#sdk.carrier_models.search{} == 0)

-- carrier_models.describe
assert(sdk.carrier_models.describe(wing).maker == "Aero")

-- carrier_models.search
assert(#sdk.carrier_models.search{ filter = { maker = { ["$eq"] = "Aero" } } } == 1)

-- carrier_models.search_generator
for m in sdk.carrier_models.search_generator{} do print(m.name, m.type) end
