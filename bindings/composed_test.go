package bindings_test

import (
	"path/filepath"
	"testing"
)

func TestFindOrCreate(t *testing.T) {
	newWorld(t).lua(t, setup+`
local one, created = sdk.projects.find_or_create{ name = "South quarry", company = company }
local two, again = sdk.projects.find_or_create("South quarry")
assert(created and not again and one.id == two.id)
sdk.projects.create("South quarry", company)
local _, err = try(sdk.projects.find_or_create, "South quarry")
assert(err.name == "ParameterError" and err.message:find(one.id, 1, true) and err.message:find("several projects"), tostring(err))

local mission, made = sdk.missions.find_or_create{ project = project, name = "plain" }
assert(made and #(mission.flights or {}) == 0)
local other = sdk.projects.create("Other", company)
local elsewhere, made = sdk.missions.find_or_create(other, "plain")
assert(made and elsewhere.id ~= mission.id, "the mission of another project was found")
local _, err = try(sdk.missions.find_or_create, { project = project, name = "flown", number_of_images = 2 })
assert(err.operation == "missions.find_or_create" and err.message:find("outline"), tostring(err))
`)
	w := planning(t)
	w.lua(t, `
local sdk = require("sdk")
local project, created = sdk.projects.find_or_create{ name = "North quarry" }
local mission, made = sdk.missions.find_or_create{ project = project, name = "May" }
assert(created and made and #sdk.projects.search{} == 1)
local again, created = sdk.projects.find_or_create{ name = "North quarry" }
assert(not created and again.id == project.id)
`)
	if w.recorder.Plan().Totals.Create != 2 {
		t.Errorf("planned %s", w.planned())
	}
}

func TestWaiting(t *testing.T) {
	newWorld(t).lua(t, setup+`
local empty = sdk.datasets.create_file_dataset{ name = "never uploaded", project = project }
local _, err = try(sdk.datasets.wait, empty, { timeout = 0.05 })
assert(err.name == "TimeoutError", tostring(err))
local counts = sdk.datasets.wait{ filter = { project = { ["$eq"] = project.id } }, timeout = 5 }
assert(counts.pending == 0 and counts.completed == 0, "a dataset without an upload was waited for")
local _, err = try(sdk.datasets.wait, {})
assert(err.message:find("exactly one of datasets and filter"), tostring(err))

local function ordered(outcome)
  return sdk.analytics.order{ name = "rehearsal", parameters = { duration = 0, outcome = outcome } }
end
local seen = {}
local product = sdk.products.wait(ordered("available"), { on_change = function(p) seen[#seen + 1] = p.status end })
assert(product.status == "available" and seen[#seen] == "available")
local _, err = try(sdk.products.wait, ordered("failed"))
assert(err.name == "RuntimeError" and err.message:find("ended as failed") and err.hint:find("retrieve_logs"), tostring(err))
assert(sdk.products.wait(ordered("failed"), { must_succeed = false }).status == "failed")
local _, err = try(sdk.products.wait, ordered("available"), { on_change = function() error("mine") end })
assert(tostring(err):find("mine"), tostring(err))
local long = sdk.analytics.order{ name = "rehearsal", parameters = { duration = 60 } }
local _, err = try(sdk.products.wait, long, { timeout = 0.05 })
assert(err.name == "TimeoutError", tostring(err))
local many = { ordered("available"), ordered("failed") }
local both = sdk.products.wait(many, { must_succeed = false })
assert(#both == 2 and both[1].status == "available" and both[2].status == "failed" and both[2].id == many[2].id)
assert(#sdk.products.wait({ product }) == 1)
local _, err = try(sdk.products.wait, many)
assert(err.message:find(many[2].id, 1, true), tostring(err))
local first = sdk.products.wait({ long, ordered("available") }, { any = true })
assert(first[1].status ~= "available" and first[2].status == "available")
sdk.products.cancel(long)
local _, err = try(sdk.products.describe, product, { extra = 1, fields = print })
assert(err.name == "ParameterError", tostring(err))
`)
}

func TestDownloadOutputs(t *testing.T) {
	flight, err := filepath.Abs("../testdata/flight")
	if err != nil {
		t.Fatal(err)
	}
	newWorldIn(t, t.TempDir(), []string{flight}).lua(t, setup+`
local fs = require("fs")
local folder = require("script").args({ "folder" }).folder
local mission = sdk.missions.find_or_create{ project = project, name = "May" }
require("ingest").run{ source = folder, kind = "image", project = project, mission = mission }
sdk.datasets.wait{ filter = { mission = { ["$eq"] = mission.id } } }
local product = sdk.analytics.order{ name = "flight_report", project = project, mission = mission, inputs = { mission = mission } }
sdk.products.wait(product)
local files = sdk.products.download_outputs(product, { target_path = "out" })
assert(#files > 1, #files)
for _, file in ipairs(files) do
  assert(not file.skipped and file.bytes == fs.stat(file.path).size and file.dataset and file.component, file.path)
end
for _, file in ipairs(sdk.products.download_outputs(product, { target_path = "out" })) do assert(file.skipped, file.path) end
fs.write(files[1].path, "something else")
local _, err = try(sdk.products.download_outputs, product, { target_path = "out" })
assert(err.name == "FileExistsError", tostring(err))
local again = sdk.products.download_outputs(product, { target_path = "out", overwrite = true })
assert(not again[1].skipped and again[2].skipped)
`)
}
