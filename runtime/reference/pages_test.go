package reference_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
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
	"transect/runtime/reference"
	"transect/runtime/vm"
	"transect/scripts"
	"transect/stdlib"
)

// onPlatform runs Lua on a local platform with the setting of the cookbook, in a
// folder with the photos of testdata/flight, and returns what it prints.
func onPlatform(t *testing.T, args []string, chunks ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "flight"), os.DirFS("../../testdata/flight")); err != nil {
		t.Fatal(err)
	}
	setting, err := os.ReadFile("testdata/setting.lua")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	p, err := platform.Open(ctx, platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	var out bytes.Buffer
	in := luastd.New(ctx, vm.Options{Stdout: &out, Stderr: &out, Dir: dir, Args: args, Progress: vm.ProgressQuiet,
		Env: func(name string) (string, bool) { return state, name == "TRANSECT_STATE_DIR" }})
	t.Cleanup(func() {
		in.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	module.Preload(in, stdlib.Modules()...)
	bindings.Open(in, func(ctx context.Context, _ *client.Settings) (*client.Client, error) {
		return p.Connect(ctx)
	}, ingest.Module, lookup.Module)
	for i, chunk := range append([]string{string(setting)}, chunks...) {
		if i == 1 {
			out.Reset()
		}
		if _, err := in.RunString("chunk", chunk); err != nil {
			report := vm.Failure(err)
			t.Fatalf("%v at %v, printed:\n%s", report.Err, report.Frames, out.String())
		}
	}
	return out.String()
}

var usage = regexp.MustCompile(`transect run (?:--\S+ )*(\S+\.lua)(.*)`)

// words splits a command line with double quotes.
func words(line string) (all []string) {
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(line, -1) {
		all = append(all, m[1]+m[2])
	}
	return all
}

// printsLine reports whether a text has a whole line, whatever the width of its spaces. … stands for anything.
func printsLine(printed, want string) bool {
	pattern := regexp.QuoteMeta(strings.Join(strings.Fields(want), " "))
	line := regexp.MustCompile("^" + strings.ReplaceAll(pattern, "…", ".*") + "$")
	for text := range strings.Lines(printed) {
		if line.MatchString(strings.Join(strings.Fields(text), " ")) {
			return true
		}
	}
	return false
}

// TestCookbook runs every recipe as its second line says, and wants the lines of
// its end, "--> line", in what it prints.
func TestCookbook(t *testing.T) {
	t.Parallel()
	recipes := reference.Recipes()
	if len(recipes) < 25 {
		t.Errorf("%d recipes", len(recipes))
	}
	for _, r := range recipes {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			var args []string
			if m := usage.FindStringSubmatch(strings.SplitN(r.Text, "\n", 3)[1]); m != nil {
				args = words(m[2])
			}
			printed, expected := onPlatform(t, args, r.Text), 0
			for line := range strings.Lines(r.Text) {
				if want, ok := strings.CutPrefix(line, "--> "); ok {
					expected++
					if !printsLine(printed, want) {
						t.Errorf("want %q, printed:\n%s", want, printed)
					}
				}
			}
			if expected == 0 || !strings.HasPrefix(r.Title, strings.ToUpper(r.Title[:1])) {
				t.Errorf("no expectation, or no title: %s", r.Title)
			}
		})
	}
}

// TestGuides runs the Lua of each guide, its indented blocks, one after another,
// without the Python before it, and wants the texts after "-->".
func TestGuides(t *testing.T) {
	t.Parallel()
	for _, g := range reference.Guides() {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			var chunks []string
			for _, block := range regexp.MustCompile(`(?m)(^ {4}.*\n)+`).FindAllString(g.Text+"\n", -1) {
				if _, lua, ok := strings.Cut(block, "-- Lua\n"); ok {
					chunks = append(chunks, lua)
				} else if !strings.HasPrefix(strings.TrimSpace(block), "transect ") {
					chunks = append(chunks, `local sdk, query = require("sdk"), require("query")`+"\n"+block)
				}
			}
			if len(chunks) == 0 {
				t.Error("no example")
			}
			printed := onPlatform(t, nil, chunks...)
			for _, want := range regexp.MustCompile(`--> (.*)`).FindAllStringSubmatch(g.Text, -1) {
				if !printsLine(printed, want[1]) {
					t.Errorf("want %q, printed:\n%s", want[1], printed)
				}
			}
		})
	}
}

// TestComingFromPython: every call of the SDK has its operation, which takes every
// argument under the same name; the guide has twenty idioms.
func TestComingFromPython(t *testing.T) {
	t.Parallel()
	c := reference.New()
	calls, err := os.ReadFile("python_calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(calls)) {
		words := strings.Fields(line)
		e, err := c.FindOperation(words[0])
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range words[1:] {
			name = strings.TrimSuffix(name, "?")
			if name != "*" && !slices.ContainsFunc(e.Parameters, func(p reference.Parameter) bool {
				return p.Name == name || slices.Contains(p.Aliases, name)
			}) {
				t.Errorf("%s does not take %s", words[0], name)
			}
		}
	}
	d, _, err := c.Lookup("python")
	if err != nil {
		t.Fatal(err)
	}
	page := d.Markdown()
	if idioms := strings.Count(page, "\n    -- Lua\n"); idioms != 20 || strings.Count(page, "\n    # Python\n") != idioms {
		t.Errorf("%d idioms", idioms)
	}
	for _, want := range []string{
		"| `sdk.projects.create(name, company, …)` | sdk.projects.create(name, company, { … }) |  |",
		"| `sdk.analytics.set_docker_credentials(name, version, company, docker_credentials_name)` | " +
			"sdk.analytics.set_container_credentials(name, version, company, container_credentials_name) | " +
			"docker_credentials_name is also container_credentials_name |",
		"| `sdk.datasets.search(…)` | sdk.datasets.search{ … } | also takes fields |",
		"| `(none)` | sdk.products.wait(product, { … }) |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestFieldsOfTheLocalPlatform: what it sends is documented, so that checks of
// field names raise no false alarm.
func TestFieldsOfTheLocalPlatform(t *testing.T) {
	t.Parallel()
	printed := onPlatform(t, nil, `
		local sdk = require("sdk")
		sdk.annotations.create{ project = project, name = "a", target = sdk.datasets.search{ limit = 1 }[1], type = "image" }
		sdk.features.create{ geometry = { type = "Point", coordinates = { 4, 50 } }, properties = { a = 1 } }
		sdk.datasets.delete(sdk.datasets.search{ limit = 1 })
		sdk.share_tokens.create(sdk.datasets.search{ limit = 1 })
		sdk.tags.create("t", { project = project, type = "project", target = project })
		sdk.comments.create("c", { project = project, type = "project", target = project })
		for _, manager in ipairs(sdk.managers()) do
			local found = try(function() return sdk[manager].search((manager == "tags" or manager == "comments") and { project = project } or {}) end)
			for _, record in ipairs(found or {}) do
				for name, value in pairs(record:totable()) do
					print(manager, name)
					if type(value) == "table" then for key in pairs(value) do if type(key) == "string" then print(manager, name .. "." .. key) end end end
				end
			end
		end`)
	if strings.Count(printed, "\n") < 100 {
		t.Fatalf("printed %s", printed)
	}
	for line := range strings.Lines(printed) {
		manager, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if name != "companyId" && client.RecordTypeOf(manager).Field(name) == nil { // companyId is company, twice
			t.Errorf("%s: the platform sends %s, which is not documented", manager, name)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	c := reference.New()
	for name, wants := range map[string][]string{
		"Dataset":                {"record Dataset", "width", "integer, pixels", "filter, sort", "ingestion.status", "dataset_format", "travels as format"},
		"dataset":                {"record Dataset"},
		"collection_task":        {"record CollectionTask"},
		"Dataset.geometry":       {"record Dataset"},
		"Analytic":               {"container_image", "travels as algorithm.docker_image", "volume_size", "integer, gigabytes"},
		"ShareToken":             {"expiration_date"},
		"Credential":             {"credentials.cloud_region"},
		"filter":                 {"$match", "$exists", "query"},
		"try":                    {"err.status", "nil and the error"},
		"arg":                    {"arg[1]", "script.args"},
		"icons":                  {"CONVEYOR", "ANNOTATE"},
		"cookbook":               {"cookbook.failed_ingests"},
		"cookbook.find_by_name":  {"find_by_name.lua", "$match"},
		"photos_in_box":          {"query.between"},
		"datasets":               {"manager datasets"},
		"projects.search":        {"SearchError"},
		"sdk.Resource":           {"KeyError"},
		"season_planner_mission": {"record SeasonPlannerMission"},
		"lib":                    {"lib.find", "lib.show"},
		"lib.find":               {"module lib.find", "lib.find.target(text, create, otherwise, before)"},
		"lib.find.missions":      {"lib.find.missions(project, match)", "Lists the missions of a project, oldest first"},
	} {
		d, v, err := c.Lookup(name)
		if err != nil || v == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var text strings.Builder
		if err := d.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text.String())
			}
		}
	}
	if _, _, err := c.Lookup("Datset"); err == nil || !strings.Contains(err.Error(), "there is nothing named Datset") {
		t.Errorf("Datset: %v", err)
	}
}

// TestLibIsDocumented: every function that a module of scripts/lib returns has a page.
func TestLibIsDocumented(t *testing.T) {
	t.Parallel()
	c := reference.New()
	for _, name := range scripts.Modules() {
		_, code := scripts.Module(name)
		own := strings.TrimPrefix(name, "lib.")
		for line := range strings.Lines(string(code)) {
			rest, found := strings.CutPrefix(line, "function "+own+".")
			if function, _, _ := strings.Cut(rest, "("); found {
				if _, _, err := c.Lookup(name + "." + function); err != nil {
					t.Errorf("%s: %v; a comment above it is its documentation", line, err)
				}
			}
		}
	}
}

// TestRecipesTeachGoodHabits: nothing takes the first of what is found without
// looking whether there is one, and nothing polls.
func TestRecipesTeachGoodHabits(t *testing.T) {
	t.Parallel()
	first := regexp.MustCompile(`\bsearch\b.*\}\)?\[1\]`)
	for _, s := range scripts.List() {
		if first.Match(s.Code) {
			t.Errorf("%s takes the first of what is found", s.Name)
		}
	}
	examples := examples.Of(bindings.Examples, ingest.Examples, lookup.Examples)
	for name, e := range examples {
		if first.MatchString(e.Text()) {
			t.Errorf("the example of %s takes the first of what is found:\n%s", name, e.Text())
		}
	}
	for _, p := range reference.Recipes() {
		if first.MatchString(p.Text) || strings.Contains(p.Text, "found[1]") || strings.Contains(p.Text, "sleep") {
			t.Errorf("%s takes the first of what is found or polls; lookup and wait do it well:\n%s", p.Name, p.Text)
		}
	}
}

func TestSearchTheReference(t *testing.T) {
	t.Parallel()
	c := reference.New()
	for words, want := range map[string]string{
		"failed ingests":    "cookbook.failed_ingests",
		"checksum":          "ingest.verify",
		"volume gigabytes":  "analytics.create",
		"$match":            "filter",
		"cloud_region":      "credentials.create",
		"acquisition":       "Dataset.acquisition_date",
		"docker_image":      "Analytic.container_image",
		"Share TILES token": "datasets.share_tiles",
		"python":            "python",
		"oldest first":      "lib.find.missions",
	} {
		d, err := c.Search(strings.Fields(words))
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		var text strings.Builder
		if err := d.WriteText(&text); err != nil || !strings.Contains(text.String(), "  "+want+" ") {
			t.Errorf("%s does not find %s: %v\n%s", words, want, err, text.String())
		}
	}
	if _, err := c.Search([]string{"xyzzy"}); err == nil {
		t.Error("xyzzy was found")
	}
}

// TestRowsOfConformity: every row of docs/conformity.md names tests that exist.
func TestRowsOfConformity(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/conformity.md")
	if err != nil {
		t.Fatal(err)
	}
	functions, cases := conformityTests(t, "../..")
	for _, fault := range faultyRows(string(page), functions, cases) {
		t.Error(fault)
	}
	for row, want := range map[string]string{
		"| a | same | | |\n":                                   "names no test",
		"| a | same | | – |\n":                                 "names no test",
		"| a | same | | `TestNothing` |\n":                     "there is no test TestNothing",
		"| a | same | | \"4.0 nothing\" |\n":                   "there is no case 4.0 nothing",
		"| a | sane | | `TestRowsOfConformity` |\n":            "status sane",
		"| a | differs | | `TestCookbook` |\n":                 "gives no reason",
		"| a | same | `TestRowsOfConformity` |\n":              "4 columns",
		"| a | not shown | | – |\n":                            "",
		"| a | both | x | `TestCookbook`; \"4.5 setters\" |\n": "",
	} {
		if got := strings.Join(faultyRows(row, functions, cases), "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", row, got, want)
		}
	}
}

// conformityTests lists the tests of all packages, and the cases of conformity.
func conformityTests(t *testing.T, root string) (functions, cases map[string]bool) {
	functions, cases = map[string]bool{}, map[string]bool{}
	function, entry := regexp.MustCompile(`(?m)^func (Test\w+)\(`), regexp.MustCompile("(?m)^\t\"([^\"]+)\": (?:\\w+ \\+ )?`")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(text, -1) {
			functions[string(m[1])] = true
		}
		if filepath.Dir(path) == filepath.Join(root, "bindings") && strings.HasPrefix(d.Name(), "conformity") {
			for _, m := range entry.FindAllSubmatch(text, -1) {
				cases[string(m[1])] = true
			}
		}
		return err
	})
	if err != nil || len(functions) < 500 || len(cases) < 50 {
		t.Fatalf("%d tests, %d cases, %v", len(functions), len(cases), err)
	}
	return functions, cases
}

func faultyRows(page string, functions, cases map[string]bool) (faults []string) {
	named := regexp.MustCompile("`(Test\\w+)`|\"([^\"]+)\"")
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| item |") {
			continue
		}
		fail := func(text string) { faults = append(faults, text+": "+strings.TrimSpace(line)) }
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 {
			fail("a row has 4 columns")
			continue
		}
		status, note := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if !slices.Contains([]string{"same", "both", "differs", "not shown"}, status) {
			fail("status " + status)
		}
		if note == "" && (status == "differs" || status == "both") {
			fail("the row gives no reason")
		}
		tests := named.FindAllStringSubmatch(cells[3], -1)
		if len(tests) == 0 && status != "not shown" {
			fail("the row names no test")
		}
		for _, m := range tests {
			switch {
			case m[1] != "" && !functions[m[1]]:
				fail("there is no test " + m[1])
			case m[2] != "" && !cases[m[2]]:
				fail("there is no case " + m[2])
			}
		}
	}
	return faults
}
