local sdk = require("sdk")
local me = sdk.users.describe()
local team = sdk.teams.create{ company = me.company, name = "North" }

-- teams.create
local south = sdk.teams.create{ company = me.company, name = "South" }
assert(south.name == "South")

-- teams.delete
sdk.teams.delete(team)
assert(#sdk.teams.search{} == 0)

-- teams.describe
assert(sdk.teams.describe(team).name == "North")

-- teams.rename
assert(sdk.teams.rename(team, "North and east").name == "North and east")

-- teams.search
local found = sdk.teams.search{ filter = { name = { ["$match"] = "north" } } }
assert(found[1].id == team.id)

-- teams.search_generator
for t in sdk.teams.search_generator{} do print(t.name, t.leader) end

-- teams.set_leader
local pilot = sdk.pilots.create{ user = me, teams = { team } }
assert(sdk.teams.set_leader(team, { leader = pilot }).leader == pilot.id)
