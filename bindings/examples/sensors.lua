local sdk = require("sdk")
local team = sdk.teams.create{ company = sdk.users.describe().company, name = "North" }
local eye = sdk.sensors_models.create{ name = "Eye 20", maker = "Optics", type = "rgb" }
local sensor = sdk.sensors.create{ sensor_model = eye, team = team, serial_number = "E20-7" }

-- sensors.create
local second = sdk.sensors.create{ sensor_model = eye, team = team, serial_number = "E20-8", firmware = "1.4" }
assert(second.firmware == "1.4")

-- sensors.delete
sdk.sensors.delete(sensor)
assert(#sdk.sensors.search{} == 0)

-- sensors.describe
assert(sdk.sensors.describe(sensor).serial_number == "E20-7")

-- sensors.search
local of_model = sdk.sensors.search{ filter = { sensor_model = { ["$eq"] = eye.id } } }
for _, s in ipairs(of_model) do print(s.serial_number, s.firmware) end

-- sensors.search_generator
for s in sdk.sensors.search_generator{} do print(s.serial_number, s.firmware) end
