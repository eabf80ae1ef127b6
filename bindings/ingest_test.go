package bindings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ingestWorld is a world with files in the folder card: three texts of 10, 20
// and 3000 bytes, one of them a year old, and a GeoJSON.
func ingestWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"card/a.txt": strings.Repeat("a", 10), "card/b.txt": strings.Repeat("b", 20), "card/deep/c.txt": strings.Repeat("c", 3000),
		"card/field.geojson": `{"type":"FeatureCollection","features":[]}`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().AddDate(-1, 0, 0)
	if err := os.Chtimes(filepath.Join(dir, "card/b.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	return newWorldIn(t, dir, nil)
}

const ingestHelpers = `
local ingest, sdk, fs, test = require("ingest"), require("sdk"), require("fs"), require("test")
local good = "\255\216\255\192\0\11\8\0\1\0\1\1\1\17\0\255\218\0\8\1\1\0\0\63\0\0\255\217"
local project = sdk.projects.create("Quarry", sdk.users.describe().company)
local function names(options)
  options.project = options.project or project
  local found = {}
  local result = ingest.run(options)
  local left = 0
  for file in result.files() do
    if (file.cause or ""):find("^a filter leaves") then left = left + 1 else found[#found + 1] = file.verdict .. " " .. file.name end
  end
  assert(result.left_out >= left)
  table.sort(found)
  return table.concat(found, ", "), result
end
local function held(target) return sdk.datasets.search{ filter = { project = { ["$eq"] = (target or project).id } }, limit = 100 } end
`

func TestIngestModule(t *testing.T) {
	for name, code := range map[string]string{
		"folder": `
local list, result = names{ source = "card" }
test.equal(list, "uploaded a.txt, uploaded b.txt, uploaded deep/c.txt, uploaded field.geojson")
test.equal({ result.total, result.uploaded, result.bytes, #held() }, { 4, 4, 3072, 4 })
test.equal((names{ source = "card" }), "already_there a.txt, already_there b.txt, already_there deep/c.txt, already_there field.geojson")`,
		"sources": `
test.equal((names{ source = "card/*.txt", dry_run = true }), "uploaded a.txt, uploaded b.txt")
test.equal((names{ source = "card/a.txt", dry_run = true }), "uploaded a.txt")
test.equal((names{ paths = { "card/a.txt", "card/deep/**" }, dry_run = true }), "uploaded a.txt, uploaded c.txt")
test.equal((names{ source = "card", paths = { "deep/c.txt", "a.txt" }, dry_run = true }), "uploaded a.txt, uploaded deep/c.txt")
local list, i = { "card/a.txt", "card/b.txt" }, 0
test.equal((names{ source = function() i = i + 1 return list[i] end, dry_run = true }), "uploaded a.txt, uploaded b.txt")
test.equal((names{ source = "card/*.tif", dry_run = true }), "")
test.equal(#held(), 0)`,
		"filters": `
local function dry(o) o.source, o.dry_run = "card", true return (names(o)) end
test.equal(dry{ include = "*.txt" }, "uploaded a.txt, uploaded b.txt, uploaded deep/c.txt")
test.equal(dry{ exclude = { "deep/**", "*.geojson" } }, "uploaded a.txt, uploaded b.txt")
test.equal(dry{ min_size = 21, max_size = 100 }, "uploaded field.geojson")
test.equal(dry{ newer_than = os.date("%Y-%m-%d", os.time() - 86400 * 30), include = "*.txt" }, "uploaded a.txt, uploaded deep/c.txt")
test.equal(dry{ filter = function(f) return f.size < 15 and f.name == "a.txt" and fs.exists(f.path) and f.modified ~= nil end }, "uploaded a.txt")`,
		"callbacks": `
local notified = {}
local _, result = names{ source = "card", include = "*.txt", name = "site {stem}", properties = { season = 2026 }, categories = { "logs" },
  hidden = true, on_file = function(f) notified[#notified + 1] = f.name .. " " .. f.verdict end }
table.sort(notified)
test.equal(notified, { "a.txt uploaded", "b.txt uploaded", "deep/c.txt uploaded", "field.geojson left_out" })
test.equal({ result.left_out, result.preflight.skipped.filtered }, { 1, 1 })
for _, d in ipairs(held()) do
  test.truthy(d.name:match("^site [abc]$") and d.properties.season == 2026 and d.categories[1] == "logs" and d.hidden)
end
names{ source = "card", include = "*.geojson", name = function(f) return f.name:upper() end }
test.equal(#sdk.datasets.search{ filter = { name = { ["$eq"] = "FIELD.GEOJSON" }, type = { ["$eq"] = "vector" } } }, 1)
local err = test.raises(function() names{ source = "card", on_file = function(f) error("mine", 0) end } end, "mine")
err = test.raises(function() names{ source = "card", filter = function(f) return f.nothing.there end } end, "nil")
fs.write("card/unsent.txt", "x")
err = test.raises(function() names{ source = "card", name = function(f) return 3 end } end, "ParameterError")`,
		"failed ones": `
fs.write("card/bad.jpg", "\255\216\255 no image")
local list, result = names{ source = "card", report = "first.csv" }
test.equal({ result.damaged, result.bad, result.uploaded, result.failures[1].name, #result.failures }, { 1, 1, 4, "bad.jpg", 1 })
test.truthy(result.failures[1].cause and result.failures[1].hint)
test.equal((names{ retry_failed = "first.csv", report = "second.json" }), "damaged bad.jpg")
fs.write("card/bad.jpg", good)
test.equal((names{ retry_failed = "second.json" }), "uploaded bad.jpg")
test.equal(#held(), 5)
-- A run that does nothing leaves the report of an earlier one alone.
local before = fs.read("first.csv")
test.raises(function() names{ source = "nowhere", report = "first.csv" } end, "FileError")
test.equal(fs.read("first.csv"), before)`,
		"reports made by hand": `
local report = "name,path,verdict\na.txt,card/a.txt,failed\na.txt,card/../card/a.txt,failed\ndeep/c.txt,./card/deep/c.txt,failed\nb.txt,card/b.txt,created\n"
fs.write("mine.csv", report)
test.equal((names{ retry_failed = "mine.csv" }), "uploaded a.txt, uploaded deep/c.txt")
test.equal((names{ source = "card", include = "*.txt" }), "already_there a.txt, already_there deep/c.txt, uploaded b.txt") -- the same names, the same keys
-- A file that is gone meanwhile has still failed.
fs.write("mine.csv", report .. "gone.txt,card/gone.txt,failed\n")
test.equal((names{ retry_failed = "mine.csv" }), "already_there a.txt, already_there deep/c.txt, failed gone.txt")
fs.write("mine.csv", "name,path,verdict\na.txt,,failed\n")
test.raises(function() names{ retry_failed = "mine.csv" } end, "has no path")`,
		"sidecars of failed ones": `
local shape = "\0\0\39\10" .. ("\0"):rep(23) .. "\50\232\3" .. ("\0"):rep(70)
fs.write("card/deep/area.shp", shape)
fs.write("card/deep/area.dbf", "\3\16\1\1\0\0\0\0\33\0\1\0" .. ("\0"):rep(40))
fs.write("card/deep/area.shx", shape)
fs.write("card/deep/area.prj", 'GEOGCS["WGS 84"]')
fs.write("first.csv", "name,path,verdict\ndeep/area.shp,card/deep/area.shp,failed\n")
local list, again = names{ retry_failed = "first.csv" }
test.equal({ list, again.uploaded }, { "uploaded deep/area.shp", 1 })
test.equal(#held()[1].components, 4)
test.equal((names{ source = "card", include = "**/area.*" }), "already_there deep/area.shp")`,
		"names that are no text": `
local odd = "card/caf\233 100%.jpg"
try(fs.write, odd, "\255\216\255 no image")
if not fs.exists(odd) then return end -- macOS has no such names
for i, form in ipairs{ "json", "csv" } do
  local first, second = "first." .. form, "second." .. form
  local _, result = names{ source = "card", report = first }
  test.equal({ result.damaged, result.failures[1].name }, { 1, "caf%E9 100%.jpg" })
  local text = fs.read(first)
  test.truthy(text:find("card/caf%E9 100%.jpg", 1, true) and text:find("card/caf%E9 100%25.jpg", 1, true) and not text:find("\233", 1, true))
  test.equal((names{ retry_failed = first, report = second }), "damaged caf%E9 100%.jpg")
  fs.write(odd, good .. i)
  local list, again = names{ retry_failed = second, report = second }
  test.equal(list, "uploaded caf%E9 100%.jpg")
  for f in again.files() do test.truthy(f.path:sub(-#odd) == odd) end
  test.equal(ingest.verify{ ingest = second }.already_there, 1)
  test.equal((names{ source = "card", include = "*.jpg" }), "already_there caf%E9 100%.jpg")
  fs.write(odd, "\255\216\255 no image")
end
test.equal(#held(), 6)`,
		"strict": `
fs.write("card/bad.jpg", "\255\216\255 no image")
test.raises(function() names{ source = "card", check = "strict" } end, "FileError")
test.equal(#held(), 0)
local report = ingest.check{ source = "card" }
test.equal({ report.items, report.errors, report.problems[1].name }, { 5, 1, "bad.jpg" })`,
		"verify": `
local _, result = names{ source = "card", report = "r.json", verify = true, wait = true }
for _, options in ipairs{ { source = "card", project = project }, { ingest = result.id }, { ingest = "r.json" } } do
  local notified = 0
  options.on_file = function() notified = notified + 1 end
  local v = ingest.verify(options)
  test.equal({ v.ok, v.already_there, v.different, v.missing, v.extra, notified }, { true, 4, 0, 0, 0, 4 })
end
fs.write("card/a.txt", "another ten")
fs.write("card/new.txt", "new")
sdk.datasets.delete(sdk.datasets.search{ filter = { name = { ["$eq"] = "b.txt" } } })
local v = ingest.verify{ source = "card", project = project }
test.equal({ v.ok, v.already_there, v.different, v.missing, v.extra }, { false, 2, 1, 2, 0 })
fs.remove("card/field.geojson")
v = ingest.verify{ source = "card", project = project }
test.equal({ v.already_there, v.extra, v.findings[#v.findings].verdict }, { 1, 1, "extra" })
v = ingest.verify{ ingest = result.id }
test.truthy(not v.ok and v.missing == 1)`,
		"mission": `
local flight, mission = sdk.missions.create{ project = project, name = "M", survey_date = "2026-05-31", number_of_images = 1,
  coordinates = { { 4, 50 }, { 4.1, 50 }, { 4.1, 50.1 }, { 4, 50 } } }
names{ source = "card", include = "a.txt", mission = mission, project = false or nil }
local d = sdk.datasets.search{ filter = { mission = { ["$eq"] = mission.id } } }
test.equal({ #d, d[1].project }, { 1, project.id })
test.truthy(ingest.verify{ source = "card", include = "a.txt", mission = mission }.ok)`,
		"replace": `
names{ source = "card", include = "a.txt" }
fs.write("card/a.txt", "another state")
local _, result = names{ source = "card", include = "a.txt", replace = true }
test.equal({ result.uploaded, #held() }, { 1, 1 })`,
	} {
		t.Run(name, func(t *testing.T) { ingestWorld(t).lua(t, ingestHelpers+code) })
	}
}

// The error of a call that names no files lists what it can name.
func TestIngestNamesNothing(t *testing.T) {
	ingestWorld(t).lua(t, ingestHelpers+`
for name, want in pairs{
  run = { "the files to ingest", "retry_failed = the report of an earlier run" },
  check = { "the files to check", "paths = { … }" },
  verify = { "the files to compare with the platform", "ingest = the id of an earlier run, or its report" },
} do
  for _, options in ipairs{ {}, { source = "" } } do
    local err = test.raises(function() ingest[name](options) end, "ParameterError")
    test.truthy(err.message:find(want[1], 1, true) and err.hint:find(want[2], 1, true), tostring(err) .. " / " .. tostring(err.hint))
  end
end
test.raises(function() ingest.verify{ ingest = "" } end, "option ingest is empty: it must name a run")
test.raises(function() ingest.verify{ ingest = "x", source = "card" } end, "leave source and paths out")
test.raises(function() ingest.verify{ ingest = "x" } end, "there is no ingest x on this machine")`)
}

// Mistakes are reported before anything is sent, in words that say what to write.
func TestIngestRefusals(t *testing.T) {
	w := ingestWorld(t)
	w.lua(t, ingestHelpers+`
for want, options in pairs{
  ["did you mean include?"] = { source = "card", includ = "*" },
  ["must be one of image, raster"] = { source = "card", kind = "shape" },
  ["source is missing"] = {},
  ["nowhere does not exist"] = { source = "nowhere" },
  ["is not a pattern"] = { source = "card", include = "[" },
  ['"someday" is not a time'] = { source = "card", newer_than = "someday" },
  ["neither .json nor .csv"] = { source = "card", report = "x.txt" },
  ["folder of the report"] = { source = "card", report = "nowhere/x.csv" },
  ["workers must be at least 1"] = { source = "card", workers = 0 },
  ["batch must be between 1 and 500"] = { source = "card", batch = 501 },
  ["min_size must be at least 0"] = { source = "card", min_size = -1 },
  ["no file has at least 5"] = { source = "card", min_size = 5, max_size = 4 },
  ["min_size must be an integer"] = { source = "card", min_size = "10MB" },
  ['check must be true, false, "deep", "strict" or "strict deep"'] = { source = "card", check = "strickt" },
  ["there is no {nme} (did you mean name?)"] = { source = "card", name = "{base} of {nme}" },
  ["cannot read the report"] = { retry_failed = "nowhere.json" },
  ["leave source and paths out"] = { source = "card", retry_failed = "nowhere.json" },
  ["source must be a folder when paths"] = { source = "card/a.txt", paths = { "card/b.txt" } },
  ["paths[2] must be a string"] = { paths = { "card/a.txt", 3 } },
  ["must return paths, got a table"] = { source = function() return {} end },
  ["option mission must be an id"] = { source = "card", mission = { 1 } },
} do
  options.project = project
  local result, err = try(ingest.run, options)
  test.truthy(err and tostring(err):find(want, 1, true), want .. " is not in " .. tostring(err))
  test.truthy(not tostring(err):find("datasets.search", 1, true), tostring(err))
end
local _, err = try(ingest.run, { source = "card" })
test.truthy(tostring(err):find("project or company is missing", 1, true), tostring(err))
_, err = try(ingest.verify, { ingest = "20200101-000000.000-abcdef" })
test.truthy(tostring(err):find("there is no ingest 20200101", 1, true), tostring(err))
test.equal(#held(), 0)
`)
}

// Runs side by side on the same folder, each from a task of its own, double nothing.
func TestIngestSideBySide(t *testing.T) {
	ingestWorld(t).lua(t, ingestHelpers+`
local task = require("task")
local codes = task.map({ 1, 2, 3 }, function()
  local result, err = try(ingest.run, { source = "card", project = project })
  return err and err.name or "done"
end, { workers = 3 })
local done = 0
for _, c in ipairs(codes) do
  test.truthy(c == "done" or c == "LockedError", c)
  if c == "done" then done = done + 1 end
end
test.truthy(done > 0)
test.equal(#held(), 4)`)
}
