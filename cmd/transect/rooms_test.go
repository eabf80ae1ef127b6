package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// rooms lists, for each room, the rooms it may import. Arrows only ever point
// down this list. A room's own packages may import each other.
var rooms = []struct {
	name string
	may  []string
}{
	{"docs", []string{"runtime", "runtime/module", "platform", "client"}}, // the examples
	{"cmd", []string{"runtime", "bindings", "stdlib", "runtime/meter", "runtime/luastd", "runtime/module", "runtime/vm", "runtime/engine", "runtime/sandbox", "platform", "client"}},
	{"runtime", []string{"bindings", "stdlib", "runtime/meter", "runtime/luastd", "runtime/module", "runtime/vm", "runtime/engine", "runtime/sandbox", "platform", "client"}},
	{"bindings", []string{"runtime/meter", "runtime/module", "runtime/vm", "runtime/sandbox", "client"}},
	{"stdlib", []string{"runtime/meter", "runtime/module", "runtime/vm", "runtime/engine", "runtime/sandbox"}},
	{"runtime/meter", []string{"runtime/vm"}},
	{"runtime/luastd", []string{"runtime/vm", "runtime/engine", "runtime/sandbox"}},
	{"runtime/module", []string{"runtime/vm"}},
	{"runtime/vm", []string{"runtime/engine", "runtime/sandbox"}},
	{"runtime/engine", nil},
	{"runtime/sandbox", []string{"client"}},
	{"platform", []string{"client"}},
	{"client", nil},
}

// leaves are packages every room may import. They import nothing but leaves.
var leaves = []string{"client/fault", "client/wait", "client/human", "client/human/tabular", "client/duration", "client/calendar", "client/atomicfile", "client/regular", "client/files", "client/sqlitefile", "client/transport/httpcore", "client/suggest", "client/schema", "client/formats", "client/semrange", "client/geojson", "client/geodesic", "runtime/jobs/setting",
	"scripts"}

// parts are packages that hang on the core: it does not import them.
var parts = []string{"platform", "runtime/plan", "runtime/shadow", "runtime/planrun", "runtime/suite", "runtime/local", "runtime/repl",
	"runtime/runledger", "runtime/profile", "runtime/jobrun", "runtime/undo", "stdlib", "client/formats", "client/formats/imagery", "client/formats/tiff",
	"runtime/timetable", "client/geodesic", "runtime/jobs", "runtime/jobs/link", "runtime/jobs/bundle",
	"client/ledger", "client/recovery", "runtime/lint", "runtime/reference", "runtime/complete", "runtime/luafmt", "runtime/lsp", "runtime/dap", "runtime/debug",
	"runtime/mcp", "runtime/web", "runtime/unattended", "runtime/jobs/worker", "runtime/jobs/worker/monitor", "runtime/jobs/schedule", "scripts", "client/human/tabular", "bindings/ingest", "bindings/lookup", "bindings/progress", "client/lookup", "client/calendar", "runtime/meter", "runtime/jobs/setting",
	"client/ingest", "client/scan", "client/preflight", "client/internal/reconcile", "client/verdict", "client/formats/raster",
	"client/formats/vector", "client/formats/pointcloud", "client/formats/mesh", "client/formats/crs"}

// TestCore measures what whoever runs a script links, and names the arrow that leads to a part. The number
// falls as parts leave the core; it may not rise.
func TestCore(t *testing.T) {
	const most = 40_000
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{.Dir}} {{join .GoFiles " "}}; {{join .Imports " "}}`,
		"transect/runtime").Output()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		about, imports, _ := strings.Cut(line, ";")
		words := strings.Fields(about)
		from, own := strings.CutPrefix(words[0], "transect/")
		if !own {
			continue
		}
		for _, file := range words[2:] {
			text, err := os.ReadFile(filepath.Join(words[1], file))
			if err != nil {
				t.Fatal(err)
			}
			total += bytes.Count(text, []byte("\n"))
		}
		for _, to := range strings.Fields(imports) {
			if to, own := strings.CutPrefix(to, "transect/"); own && slices.Contains(parts, to) {
				t.Errorf("%s is reached from package runtime and imports the part %s", from, to)
			}
		}
	}
	if total > most {
		t.Errorf("package runtime reaches %d lines, more than %d", total, most)
	}
}

func TestArrowsPointDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, "transect/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		from, imports, _ := strings.Cut(strings.TrimPrefix(line, "transect/"), ":")
		for _, to := range strings.Fields(imports) {
			to, own := strings.CutPrefix(to, "transect/")
			if own && !allowed(from, to) {
				t.Errorf("%s imports %s: that arrow points the wrong way", from, to)
			}
		}
	}
}

// Each file of the repairs of the Lua engine is named on the page that lists them.
func TestEnginePageNamesFiles(t *testing.T) {
	page, err := os.ReadFile("../../docs/engine.md")
	if err != nil {
		t.Fatal(err)
	}
	goFiles(t, func(file string, _ []string) {
		if name, ok := strings.CutPrefix(file, "runtime/engine/"); ok && !bytes.Contains(page, []byte("`"+name+"`")) {
			t.Errorf("docs/engine.md does not name %s", name)
		}
	})
}

// The scripts are read by people who learn from them: no line is wider than a screen.
func TestScriptsAreNarrow(t *testing.T) {
	for _, pattern := range []string{"*.lua", "*/*.lua"} {
		paths, err := filepath.Glob(filepath.Join("../../scripts", pattern))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if n := utf8.RuneCountInString(line); n > 120 {
					t.Errorf("%s:%d has %d columns, more than 120", path, i+1, n)
				}
			}
		}
	}
}

func TestOnlyTheClientLeavesLuaAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "transect/client/...", "transect/platform/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out, []byte("gopher-lua")) {
		t.Error("client or platform depends on Lua; a Go program must be able to use them alone")
	}
}

// The page of a platform is served over a client, so that it shows any platform.
func TestThePageKnowsNoPlatform(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "transect/runtime/web").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(out)) {
		if name == "transect/platform" || strings.HasPrefix(name, "transect/platform/") || name == "github.com/yuin/gopher-lua" {
			t.Errorf("transect/runtime/web depends on %s; it knows the client and the history of runs", name)
		}
	}
}

// The mechanisms of the toolbox lie in packages of their own, which know no
// Lua; its modules say what of them scripts can reach.
func TestTheToolboxKeepsItsMechanismsFreeOfLua(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, "transect/stdlib/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	doors := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		name, imports, _ := strings.Cut(line, ":")
		if name == "transect/stdlib" {
			continue
		}
		doors++
		for _, to := range strings.Fields(imports) {
			if strings.Contains(to, "gopher-lua") || strings.HasPrefix(to, "transect/runtime") && to != "transect/runtime/sandbox" || to == "transect/stdlib" {
				t.Errorf("%s imports %s: what knows Lua belongs in transect/stdlib itself", name, to)
			}
		}
	}
	if doors == 0 {
		t.Error("no package was found")
	}
}

// Formats are asked for by their content, at package formats: what reads one of them
// is not imported elsewhere.
func TestReadersOfFormatsStayBehindTheirInterface(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, "transect/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	const house = "transect/client/formats"
	inside := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		from, imports, _ := strings.Cut(line, ":")
		for _, to := range strings.Fields(imports) {
			name, below := strings.CutPrefix(to, house+"/")
			// Scripts read photos one by one, the tile server keeps rasters open.
			if !below || name == "imagery" || name == "raster" {
				continue
			}
			if from == house || strings.HasPrefix(from, house+"/") {
				inside++
			} else {
				t.Errorf("%s imports %s: ask %s", from, to, house)
			}
		}
	}
	if inside == 0 {
		t.Error("no reader of a format was found")
	}
}

func allowed(from, to string) bool {
	if isLeaf(to) {
		return true
	}
	if isLeaf(from) {
		return room(to) == room(from) && strings.HasPrefix(to, from+"/")
	}
	if room(from) == room(to) {
		return true
	}
	for _, r := range rooms {
		if r.name != room(from) {
			continue
		}
		for _, may := range r.may {
			if may == room(to) {
				return true
			}
		}
	}
	return false
}

func isLeaf(path string) bool {
	for _, leaf := range leaves {
		if path == leaf || strings.HasPrefix(path, leaf+"/") {
			return true
		}
	}
	return false
}

func room(path string) string {
	for _, below := range []string{"runtime/meter", "runtime/luastd", "runtime/module", "runtime/vm", "runtime/engine",
		"runtime/sandbox"} {
		if path == below || strings.HasPrefix(path, below+"/") {
			return below
		}
	}
	first, _, _ := strings.Cut(path, "/")
	return first
}
