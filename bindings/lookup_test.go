package bindings_test

import "testing"

// A name that several things have is refused with the candidates; names may hold slashes.
func TestLookup(t *testing.T) {
	newWorld(t).lua(t, `
local sdk, lookup = require("sdk"), require("lookup")
local company = sdk.users.describe().company
local north, south = sdk.projects.create("North", company), sdk.projects.create("South/East", company)
local may = sdk.missions.create_mission{ project = north, name = "May", survey_date = "2026-05-31" }
local other = sdk.missions.create_mission{ project = south, name = "May", survey_date = "2026-06-30" }
local late = sdk.missions.create_mission{ project = south, name = "June/late", survey_date = "2026-06-30" }
local notes = sdk.datasets.create_file_dataset{ name = "a/notes.txt", project = north, mission = may, components = { "file" } }

local function same(want, got) assert(got and got.id == want.id, tostring(got)) end
same(north, lookup.project("North"))
same(north, lookup.project(north.id))
same(south, lookup.place("South/East").project)
same(late, lookup.mission("South/East/June/late"))
same(late, lookup.mission("June/late"))
same(may, lookup.mission("May", { project = north }))
same(notes, lookup.any("North/May/a/notes.txt"))
assert(select("#", lookup.project("North")) == 1 and select("#", lookup.mission("North/May")) == 1)
assert(select(2, lookup.any("North/May")) == "mission")
assert(lookup.project("West", { missing_ok = true }) == nil)
local place = lookup.place("West/July", { missing_ok = true })
assert(place.new_project == "West" and place.new_mission == "July" and not place.project)

local function refused(what, hint, f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok and err.name == "UsageError", tostring(err))
  assert(err.message:find(what, 1, true), err.message)
  assert((err.hint or ""):find(hint, 1, true), err.hint)
end
refused("several missions are named May:\n" .. may.id, "PROJECT/MISSION", lookup.mission, "May")
refused("in South/East", "", lookup.mission, "May")
refused("there is no project Nort", "did you mean North?", lookup.project, "Nort")
refused("there is no project Elsewhere", "--create makes one", lookup.project, "Elsewhere", { otherwise = "--create makes one" })
refused("there is no mission July in the project North", "the missions are: May", lookup.mission, "July", { project = north })
refused("North is a project", "PROJECT/MISSION", lookup.mission, north.id)
refused("there is no dataset notes.txt in the mission May", "did you mean a/notes.txt?", lookup.any, "North/May/notes.txt")
refused("nothing is named zzz", "transect find", lookup.any, "zzz")
refused("there is nothing with the id", "belongs to this platform", lookup.any, ("0"):rep(24))
refused("./card is a path of files", "North quarry", lookup.place, "./card", { missing_ok = true })
refused("nothing was ordered for the mission May", "transect order", lookup.product, "North/May")
refused("a/notes.txt is a dataset, not a product", "ANALYTIC", lookup.product, "a/notes.txt")
`)
}
