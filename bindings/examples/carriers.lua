local sdk = require("sdk")
local team = sdk.teams.create{ company = sdk.users.describe().company, name = "North" }
local quad = sdk.carrier_models.create{ name = "Quad 4", maker = "Aero", type = "multirotor" }
local carrier = sdk.carriers.create{ carrier_model = quad, team = team, serial_number = "Q4-0012" }

-- carriers.create
local spare = sdk.carriers.create{
  carrier_model = quad, team = team, serial_number = "Q4-0013", firmware = "2.1", status = "in-maintenance", comment = "new rotor",
}
assert(spare.status == "in-maintenance")

-- carriers.delete
sdk.carriers.delete(carrier)
assert(#sdk.carriers.search{} == 0)

-- carriers.describe
assert(sdk.carriers.describe(carrier).serial_number == "Q4-0012")

-- carriers.search
for _, c in ipairs(sdk.carriers.search{ filter = { team = { ["$eq"] = team.id } } }) do print(c.serial_number, c.status) end

-- carriers.search_generator
for c in sdk.carriers.search_generator{} do print(c.serial_number, c.firmware) end
