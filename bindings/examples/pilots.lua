local sdk = require("sdk")
local me = sdk.users.describe()
local team = sdk.teams.create{ company = me.company, name = "North" }
local wing = sdk.carrier_models.create{ name = "Wing 3", maker = "Aero", type = "fixed-wing" }

-- pilots.create
local pilot = sdk.pilots.create{ user = me, teams = { team }, carrier_models = { wing } }
assert(pilot.user == me.id)

-- pilots.delete
local pilot = sdk.pilots.create{ user = me, teams = { team } }
sdk.pilots.delete(pilot)
assert(#sdk.pilots.search{} == 0)

-- pilots.describe
local pilot = sdk.pilots.create{ user = me, teams = { team } }
assert(sdk.pilots.describe(pilot).teams[1] == team.id)

-- pilots.search
sdk.pilots.create{ user = me, teams = { team } }
assert(#sdk.pilots.search{ filter = { teams = { ["$eq"] = team.id } } } == 1)

-- pilots.search_generator
sdk.pilots.create{ user = me, teams = { team } }
for p in sdk.pilots.search_generator{} do print(p.id, #p.teams) end

-- pilots.update
local pilot = sdk.pilots.create{ user = me, teams = { team } }
assert(sdk.pilots.update{ pilot = pilot, carrier_models = { wing } }.carrier_models[1] == wing.id)
