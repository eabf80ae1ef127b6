local sdk = require("sdk")
local company = sdk.users.describe().company
local team = sdk.teams.create{ company = company, name = "North" }
local order = sdk.collection_tasks.create{ name = "Spring flight", company = company, team = team, purpose = "mapping" }

-- collection_tasks.create
local summer = sdk.collection_tasks.create{
  name = "Summer flight", company = company, team = team,
  location = { address = { city = "Toulouse" }, contact = { name = "Farm office", phone = "555 0100" } },
  forecast_date_range = { start_date = "2026-07-01", end_date = "2026-07-15" },
}
assert(summer.status == "pending")

-- collection_tasks.create_flight_log
sdk.collection_tasks.create_flight_log(order, { extra = { flight_log = { batteries = 3, wind = "calm" } } })

-- collection_tasks.delete
sdk.collection_tasks.delete(order)
assert(#sdk.collection_tasks.search{} == 0)

-- collection_tasks.describe
assert(sdk.collection_tasks.describe(order).team == team.id)

-- collection_tasks.rename
assert(sdk.collection_tasks.rename(order, { name = "Spring flight, second try" }).name == "Spring flight, second try")

-- collection_tasks.search
assert(#sdk.collection_tasks.search{ filter = { status = { ["$eq"] = "pending" } } } == 1)

-- collection_tasks.search_generator
for t in sdk.collection_tasks.search_generator{} do print(t.name, t.status) end

-- collection_tasks.set_fieldreport_in_task
sdk.collection_tasks.set_fieldreport_in_task{ task = order, field_report = {
  capture_date = "2026-05-31", team = team, weather = { type = "sunny", wind_speed = { value = 2, unit = "m/s" } },
  altitude = { value = 60, unit = "m" }, overlap = { forward = 80, lateral = 70 }, comment = "no incident",
} }

-- collection_tasks.set_task_status
assert(sdk.collection_tasks.set_task_status(order, { status = "ready" }).status == "ready")

-- collection_tasks.update
local updated = sdk.collection_tasks.update(order, { comment = "bring the spare rotor" })
assert(updated.comment == "bring the spare rotor" and updated.name == "Spring flight")
