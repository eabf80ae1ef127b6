local sdk = require("sdk")
local company = sdk.users.describe().company
local project = sdk.projects.create("Trial farm", company)
local field = sdk.fields.create{ company = company, project = project, name = "Long acre" }
local wheat = sdk.crops.create{ company = company, name = "wheat" }
local trial = sdk.trials.create{ field = field, crop = wheat, name = "Density 2026",
  missions = { { name = "Emergence", start_date = "2026-04-01", end_date = "2026-04-10" } } }
local mission = trial.missions[1]

-- season_planner_missions.add_mission_to_trial
local planned = sdk.season_planner_missions.add_mission_to_trial{
  trial = trial, name = "Flowering", start_date = "2026-05-20", end_date = "2026-06-05",
}
assert(#planned.missions == 2) -- the trial comes back

-- season_planner_missions.delete
sdk.season_planner_missions.delete(mission)
assert(#sdk.season_planner_missions.search{} == 0)

-- season_planner_missions.describe
assert(sdk.season_planner_missions.describe(mission).trial == trial.id)

-- season_planner_missions.search
local spring = sdk.season_planner_missions.search{ filter = { start_date = { ["$lt"] = "2026-05-01" } } }
assert(#spring == 1)

-- season_planner_missions.search_generator
for m in sdk.season_planner_missions.search_generator{} do print(m.name, m.start_date, m.end_date) end

-- season_planner_missions.update_mission
local later = sdk.season_planner_missions.update_mission{
  mission = mission, name = "Emergence", start_date = "2026-04-05", end_date = "2026-04-15",
}
assert(later.name == "Emergence")
