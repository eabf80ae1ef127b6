package bindings_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/client"
	"transect/platform"
	"transect/runtime/examples"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/plan"
	"transect/runtime/vm"
	"transect/stdlib"
)

// world is an interpreter connected to a local platform of its own.
type world struct {
	in       *vm.Interp
	platform *platform.Platform
	links    []client.Link  // of the connection, once it is opened
	recorder *plan.Recorder // of what is planned, once it is set
	out      bytes.Buffer
}

func newWorld(t testing.TB, links ...client.Link) *world {
	t.Helper()
	return newWorldIn(t, t.TempDir(), nil, links...)
}

// newWorldIn makes a world whose script lives in a folder and has arguments.
func newWorldIn(t testing.TB, dir string, args []string, links ...client.Link) *world {
	t.Helper()
	return newWorldWith(t, dir, args, client.Settings{}, links...)
}

// newWorldOf makes a world whose connection has settings of its own, such as the
// revision of the interface.
func newWorldOf(t testing.TB, s client.Settings) *world {
	t.Helper()
	return newWorldWith(t, t.TempDir(), nil, s)
}

func newWorldWith(t testing.TB, dir string, args []string, s client.Settings, links ...client.Link) *world {
	t.Helper()
	ctx := context.Background()
	p, err := platform.Open(ctx, platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{platform: p, links: links}
	w.in = luastd.New(ctx, vm.Options{Stdout: &w.out, Stderr: &w.out, Dir: dir, Args: args, Progress: vm.ProgressQuiet, Env: environment(t.TempDir())})
	t.Cleanup(func() {
		w.in.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	module.Preload(w.in, stdlib.Modules()...)
	bindings.Open(w.in, func(ctx context.Context, own *client.Settings) (*client.Client, error) {
		c := p.Credentials()
		s := s
		s.URL, s.User, s.Password, s.ClientID, s.ClientSecret = "http://transect.local", c.User, c.Password, c.ClientID, c.ClientSecret
		if own != nil && own.Password != "" {
			s.Password = own.Password
		}
		if own != nil {
			s.Given = own.Given
		}
		if own != nil && own.Revision != 0 {
			s.Revision = own.Revision
		}
		o := client.Options{RoundTripper: p.RoundTripper(), Links: w.links}
		if w.recorder != nil {
			w.plans(t, &o)
		}
		return client.New(ctx, s, o)
	}, ingest.Module, lookup.Module)
	return w
}

// environment is that of the process, but for the folder of durable state.
func environment(state string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name == "TRANSECT_STATE_DIR" {
			return state, true
		}
		return os.LookupEnv(name)
	}
}

// lua runs code and fails the test with whatever it raises.
func (w *world) lua(t testing.TB, code string) string {
	t.Helper()
	w.out.Reset()
	if _, err := w.in.RunString("test", code); err != nil {
		report := vm.Failure(err)
		t.Fatalf("%v at %v\n%s", report.Err, report.Frames, w.out.String())
	}
	return w.out.String()
}

const setup = `
local sdk = require("sdk")
local company = sdk.users.describe().company
local project = sdk.projects.create("North quarry", company)
`

func TestResources(t *testing.T) {
	newWorld(t).lua(t, setup+`
assert(project.id == project._id and #project.id == 24)
assert(project.name == "North quarry")
assert(project.nothing == nil)
local err = select(2, try(function() project.name = "x" end))
assert(err.name == "ImmutableAttribute", tostring(err))
local copy = project:totable()
copy.name = "mine"
assert(copy.id == project.id and project.name == "North quarry")
assert(tostring(project) == "project North quarry (" .. project.id .. ")")
local same = sdk.projects.describe(project)   -- a resource wherever an id is wanted
assert(same == sdk.projects.describe(project.id))
local names = {}
for _, f in ipairs(project:fields()) do names[f] = true end
assert(names._id and names.name)
`)
}

func TestCallShapes(t *testing.T) {
	newWorld(t).lua(t, setup+`
local byName = sdk.projects.create{ name = "South", company = company }
local mixed = sdk.projects.create("East", { company = company })
local list = sdk.projects.describe({ project, byName, mixed.id })
assert(#list == 3 and list[2].name == "South")
assert(#sdk.projects.describe({}) == 0)
local all = sdk.projects.search{ filter = { name = { ["$in"] = { "South", "East" } } }, return_total = true }
assert(all.total == 2 and #all.results == 2)
assert(require("projects").describe(project).name == "North quarry")
sdk.projects.update_name(project, { name = "Renamed" })
assert(sdk.projects.describe{ project = project }.name == "Renamed")
local seen = 0
for p in sdk.projects.search_generator{ limit = 2 } do seen = seen + 1 end
assert(seen == 3, seen)
`)
}

func TestMistakesTeach(t *testing.T) {
	for _, c := range []struct{ code, name, message, hint string }{
		{`sdk.projcts.create{}`, "UnsupportedOperationError", "there is no manager projcts", "did you mean projects?"},
		{`sdk.projects.crate{}`, "UnsupportedOperationError", "there is no operation projects.crate", "did you mean projects.create?"},
		{`sdk.projects.create{ nme = "x", company = company }`, "ParameterError", "unknown argument nme", "did you mean name?"},
		{`sdk.projects.create{ name = "x" }`, "ParameterError", "argument company is missing", "projects.create(name, company, [geometry])"},
		{`sdk.projects.create{ name = {}, company = company }`, "ParameterError", "argument name must be a string, got an empty table", ""},
		{`sdk.projects.search{ limit = 3.7 }`, "ParameterError", "argument limit must be an integer, got 3.7", ""},
		{`sdk.projects.search{ filter = { name = { ["$eqq"] = 1 } } }`, "SearchError", "no operator $eqq (did you mean $eq?)", ""},
		{`sdk.projects.search{ name = "x" }`, "QueryError", "name is no longer an argument of searches", "filter by it"},
		{`sdk.projects.describe("0123456789abcdef01234567")`, "ResponseError", "", ""},
		{`sdk.projects.update_status(project, "broken")`, "RuntimeError", `must be one of pending`, ""},
		{`sdk.projects.update_geometry(project, { geometry = { type = "Point", coordinates = { 10, 91 } } })`, "QueryError", "coordinates[2] is 91, outside -90 to 90", ""},
		{`sdk.missions.create_survey{ project = project, survey_date = "2026-05-31", number_of_images = 1, coordinates = {}, geometry = { type = "GeometryCollection", geometries = {} } }`, "QueryError", "cannot be combined", ""},
		{`sdk.missions.create{ project = project, survey_date = "31.5.2026", number_of_images = 0 }`, "ParameterError", "must be a date such as 2026-05-31", ""},
		{`sdk.datasets.create_image_dataset{ name = "x" }`, "ParameterError", "company or project is missing", ""},
		{`sdk.analytics.order{}`, "ParameterError", "analytic or name is missing", ""},
		{`sdk.analytics.order{ name = "no such thing" }`, "ParameterError", "no analytic no such thing", "analytics.search"},
		{`sdk.flights.create{}`, "UnsupportedOperationError", "cannot be created on their own", "missions.create"},
	} {
		t.Run(c.code, func(t *testing.T) {
			newWorld(t).lua(t, setup+`
local _, err = try(function() `+c.code+` end)
assert(err, "nothing was raised")
assert(err.name == [[`+c.name+`]], err.name .. ": " .. err)
assert(tostring(err):find([[`+c.message+`]], 1, true), tostring(err))
assert((err.hint or ""):find([[`+c.hint+`]], 1, true), tostring(err.hint))
if err.name == "ResponseError" then assert(err.status == 404, err.status) end
`)
		})
	}
}

// plans lays an overlay over the platform of a connection.
func (w *world) plans(t testing.TB, o *client.Options) {
	var over *platform.Overlay
	o.Rehearses = true
	plan := w.recorder.Link("local", func(ctx context.Context, dataset, component, path, sum string, size int64) error {
		return over.Upload(ctx, dataset, component, path, sum, size)
	})
	o.Links = append(slices.Clone(o.Links), client.At(client.PlacePlan, plan))
	o.Over = func(base string, below http.RoundTripper) (http.RoundTripper, error) {
		var err error
		over, err = platform.NewOverlay(below, base)
		t.Cleanup(func() { over.Close() })
		return over, err
	}
}

func planning(t *testing.T) *world {
	w := newWorld(t)
	w.recorder = plan.NewRecorder()
	return w
}

// planned is what was planned, as it is kept.
func (w *world) planned() string {
	var text bytes.Buffer
	_ = w.recorder.Plan().Write(&text, nil) // never fails
	return text.String()
}

func TestDryRun(t *testing.T) {
	w := planning(t)
	w.lua(t, setup+`
assert(project.id:find("^plan%-projects%-"))
local flight, mission = sdk.missions.create{ project = project, name = "M", survey_date = "2026-05-31", number_of_images = 2,
  coordinates = { {0,0}, {1,0}, {1,1}, {0,0} } }
assert(mission.name == "M" and flight.id ~= mission.id)
assert(sdk.projects.describe(project).name == "North quarry")
assert(#sdk.projects.search{} == 1 and #sdk.projects.search{ filter = { name = "North quarry" } } == 1)
assert(#sdk.missions.search{ filter = { project = project } } == 1)
`)
	p := w.recorder.Plan()
	if p.Totals.Create != 2 || p.Writes[1].After[0] != 1 || p.Writes[1].In != "North quarry" {
		t.Errorf("planned %s", w.planned())
	}
	w.recorder = nil
	w.lua(t, `assert(#require("sdk").connect{}.projects.search{} == 0, "something was sent")`)
}

func TestDryRunShowsNoSecret(t *testing.T) {
	w := planning(t)
	w.lua(t, setup+`
sdk.credentials.create{ name = "n", company = company, credentials = { type = "docker", login = "l", password = "hush-hush",
  registry = "r" } }`)
	if text := w.planned(); strings.Contains(text, "hush-hush") || !strings.Contains(text, "credentials.create") {
		t.Errorf("the plan shows %s", text)
	}
}

func TestModuleExamples(t *testing.T) {
	examples := examples.Of(bindings.Examples, ingest.Examples, lookup.Examples)
	for _, m := range append(bindings.Modules(), bindings.Declaration(), ingest.Declaration(), lookup.Declaration()) {
		for _, f := range m.Funcs {
			t.Run(m.Name+"."+f.Name, func(t *testing.T) { newWorld(t).lua(t, examples[m.Name+"."+f.Name].Text()) })
		}
	}
}

// TestQueriesFind holds what the query module makes against the platform.
func TestQueriesFind(t *testing.T) {
	newWorld(t).lua(t, setup+`
local q = require("query")
for i = 1, 6 do
  sdk.datasets.create_image_dataset{ name = "DJI_000" .. i, project = project, width = 1000 * i,
    geometry = { type = "Point", coordinates = { 4.91 + i / 1000, 50.73 } }, properties = { card = i <= 3 and "A" or nil } }
end
local function found(filter)
  local names = {}
  for d in sdk.datasets.search_generator{ filter = filter } do names[#names + 1] = d.name:sub(-1) end
  return table.concat(names)
end
local function expect(want, filter)
  local got = found(filter)
  assert(got == want, "got " .. got .. ", want " .. want)
end
expect("2", q.eq("name", "DJI_0002"))
expect("13456", q.ne("name", "DJI_0002"))
expect("456", q.gt("width", 3000))
expect("3456", q.gte("width", 3000))
expect("12", q.lt("width", 3000))
expect("123", q.lte("width", 3000))
expect("123456", q.match("name", "dji"))
expect("25", q.one_of("width", { 2000, 5000 }))
expect("1346", q.none_of("width", { 2000, 5000 }))
expect("234", q.between("width", 2000, 4000))
expect("123", q.exists("properties.card"))
expect("456", q.exists("properties.card", false))
expect("23", q.all(q.eq("properties.card", "A"), q.gt("width", 1000)))
expect("16", q.any(q.eq("width", 1000), q.eq("width", 6000)))
expect("123456", q.eq("project", project))
expect("3", q.near(4.913, 50.73, 50))
`)
}

func TestFollowSeveralProducts(t *testing.T) {
	newWorld(t).lua(t, setup+`
local function order(lines) return sdk.analytics.order{ name = "rehearsal", project = project, parameters = { duration = 0.2, log_lines = lines } } end
local one, two = order(3), order(4)
local count, last, cursors = { [one.id] = 0, [two.id] = 0 }, "", {}
for line in sdk.products.follow_logs({ one, two }) do
  count[line.product] = count[line.product] + 1
  cursors[line.product] = line.cursor
end
assert(count[one.id] >= 3 and count[two.id] >= 4, count[one.id] .. " " .. count[two.id])
for line in sdk.products.follow_logs({ one, two }, { after = cursors }) do error("a line came twice") end
for line in sdk.products.follow_logs(one, { after = cursors[one.id] }) do error("a line came twice") end
`)
}

func TestFailedChunksTellWhatIsDone(t *testing.T) {
	newWorld(t).lua(t, setup+`
local ids = {}
for i = 1, 150 do ids[i] = sdk.datasets.create_file_dataset{ name = "d" .. i, project = project }.id end
ids[120] = "0123456789abcdef01234567"
local _, err = try(sdk.datasets.delete, ids)
assert(err.status == 404, tostring(err))
assert(#err.done == 100 and #err.pending == 50 and err.pending[20] == ids[120])
assert(tostring(err):find("100 of 150 ids were done"), tostring(err))
`)
}

func TestTasksShareAnIterator(t *testing.T) {
	newWorld(t).lua(t, setup+`
local list = {}
for i = 1, 200 do list[i] = { name = "d" .. i, type = "file", project = project.id, components = { { name = "file" } } } end
sdk.datasets.create_datasets(list)
local task = require("task")
local seen, total = {}, 0
local each = sdk.datasets.search_generator{ limit = 20 }
task.map({ 1, 2, 3, 4 }, function()
  for d in each do
    assert(not seen[d.id], "a record came twice")
    seen[d.id], total = true, total + 1
  end
end)
assert(total == 200, total)
`)
}

func TestAmbiguousCalls(t *testing.T) {
	newWorld(t).lua(t, setup+`
local other = sdk.projects.create("Other", company)
local _, err = try(sdk.projects.update_name, project, { project = other, name = "changed" })
assert(tostring(err):find("project is given twice"), tostring(err))
assert(sdk.projects.describe(other).name == "Other")
assert(sdk.projects.describe(project, nil).name == "North quarry")
assert(sdk.projects.describe({ id = project.id }).name == "North quarry")
assert(#sdk.projects.search{ filter = { name = { ["$in"] = {} } } } == 0)
`)
}

func TestDryRunChanges(t *testing.T) {
	w := newWorld(t)
	w.lua(t, setup+`kept = project.id`)
	w.recorder = plan.NewRecorder()
	w.lua(t, `
local sdk = require("sdk").connect{}
local before = sdk.projects.describe(kept)
local after = sdk.projects.update_name(before, { name = "renamed" })
assert(after.id == kept and after.name == "renamed" and after.company == before.company)
assert(sdk.projects.describe(kept).name == "renamed")
local made = sdk.projects.create("made", before.company)
local both = sdk.projects.describe({ made, kept })
assert(both[1].name == "made" and both[2].id == kept)
assert(sdk.projects.update_name(made, { name = "made anew" }).id == made.id)
`)
	if p := w.recorder.Plan(); p.Totals.Change != 2 || p.Writes[0].Before.Name != "North quarry" {
		t.Errorf("planned %s", w.planned())
	}
	w.recorder = nil
	w.lua(t, `assert(require("sdk").connect{}.projects.describe(kept).name == "North quarry", "something was sent")`)
}

func TestConnectionSlips(t *testing.T) {
	newWorld(t).lua(t, `
local sdk = require("sdk")
for _, c in ipairs({
  { { passwrd = "x" }, "did you mean password?" }, { { url = 3 }, "url must be a string, got 3" }, { { force_prompt = "yes" }, "must be true or false" },
  { { timeout = -3 }, "timeout must be at least" }, { { connection = { disable_ssl_certificates = true } }, "unknown key disable_ssl_certificates" },
  { { connection = { ssl = false } }, "unknown key of connection: ssl" },
  { { connection = "fast" }, "must be a table" }, { { revision = "x" }, "revision must be an integer" },
}) do
  local _, err = try(sdk.connect, c[1])
  assert(err and err.name == "ParameterError" and tostring(err):find(c[2], 1, true), tostring(err))
end
`)
}
