local sdk = require("sdk")
local company = sdk.users.describe().company
local quarry = sdk.projects.create("North quarry", company)
sdk.missions.create_mission{ project = quarry, name = "May survey", survey_date = "2026-05-31" }

-- lookup.project
local project = require("lookup").project("North quarry")
assert(project.name == "North quarry")

-- lookup.mission
local mission = require("lookup").mission("North quarry/May survey")
assert(mission.name == "May survey")

-- lookup.place
local place = require("lookup").place("North quarry/June survey", { missing_ok = true })
assert(place.project.name == "North quarry" and place.new_mission == "June survey")

-- lookup.any
local record, kind = require("lookup").any("North quarry/May survey")
assert(kind == "mission" and record.name == "May survey")

-- lookup.product
local ok, err = pcall(require("lookup").product, "North quarry")
assert(not ok and err.message:find("nothing was ordered"))
