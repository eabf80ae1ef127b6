package main

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"transect/bindings"
	"transect/client"
	"transect/client/declare"
	"transect/runtime"
	"transect/runtime/examples"
	"transect/runtime/reference"
	"transect/scripts"
	"transect/testdata/flightgen"
)

// twice is a script that is planned on one copy of a platform, and carried out on
// another one.
type twice struct {
	name, code string
	args       []string
	empty      bool // the platform has nothing: the script fills it itself
}

// readyArguments are those with which the ready scripts and the everyday commands run.
var readyArguments = map[string][]string{
	"bulk_ingest":        {"flight", "--project", "Harbour"},
	"copy":               {"North quarry/May survey", "Harbour", "--create"},
	"export":             {"North quarry/May survey", "exported", "--format", "gpkg"},
	"export_annotations": {"North quarry"},
	"find":               {"FLIGHT"},
	"get":                {"North quarry/May survey", "got"},
	"import":             {"catalogue", "Harbour"},
	"import_season":      {"Harbour", "season.csv"},
	"logs":               {"North quarry/May survey/flight_report"},
	"ls":                 {"North quarry/May survey"},
	"order":              {"flight_report", "--on", "North quarry/May survey"},
	"order_many":         {"North quarry", "--match", "May"},
	"put":                {"flight", "Harbour/New", "--create"},
	"restore":            {"North quarry/deleted.txt"},
	"rm":                 {"North quarry/June survey", "North quarry/copy.jpg", "--yes"},
	"share_map":          {"North quarry"},
	"show":               {"North quarry/May survey"},
	"survey":             {"flight"},
	"sync_folder":        {"flight", "Harbour", "--settle", "0"},
	"tidy_up":            {"North quarry", "--days", "0", "--delete"},
	"verify":             {"flight", "North quarry/May survey"},
	"wait":               {"North quarry/May survey"},
}

const readsDownload = "it reads a file that it downloads"

// unplanned are the scripts that no plan can be made of, and why.
var unplanned = map[string]string{
	"example of collections.export":              readsDownload,
	"example of datasets.download_component":     readsDownload,
	"example of datasets.download_image_as_jpeg": readsDownload,
	"example of datasets.download_preview":       readsDownload,
}

// ofRecipe is how a recipe says that it is started.
var ofRecipe = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`transect run (?:--\S+ )*\S+\.lua(.*)`)
})

// twiceScripts are the ready scripts, the everyday commands, the recipes of the cookbook,
// and the examples of the operations.
func twiceScripts(t *testing.T) (all []twice) {
	for _, s := range scripts.List() {
		if readyArguments[s.Name] == nil {
			t.Errorf("it is not known how to start %s", s.Name)
		}
		all = append(all, twice{name: s.Name, code: string(s.Code), args: readyArguments[s.Name]})
	}
	for _, r := range reference.Recipes() {
		c := twice{name: r.Name, code: r.Text}
		if m := ofRecipe().FindStringSubmatch(strings.SplitN(r.Text, "\n", 3)[1]); m != nil {
			for _, word := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(m[1], -1) {
				c.args = append(c.args, word[1]+word[2])
			}
		}
		all = append(all, c)
	}
	for _, m := range client.Declarations() {
		for _, s := range m.Ops() {
			example := examples.Of(bindings.Examples)[s.FullName()]
			all = append(all, twice{name: "example of " + s.FullName(), code: example.Text(), empty: true,
				args: []string{"flight/FLIGHT_0001.JPG", "ortho.tif"}})
		}
	}
	return all
}

// What a script sees in its plan is what is on the platform once the plan was carried
// out, and what has nothing to do changes nothing. Without TRANSECT_TWICE=all some of
// the scripts, others each time, are left out.
func TestTheSameTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it starts a hundred processes")
	}
	t.Parallel()
	all := os.Getenv("TRANSECT_TWICE") == "all"
	from := newHome(t, 0, flightgen.Options{})
	from.settings = []string{"TRANSECT_STATE_DIR=" + filepath.Join(from.dir, "state"), "TRANSECT_LOCAL=1"}
	for _, name := range []string{"flight", "ortho.tif"} {
		copied(t, filepath.Join("../../testdata", name), filepath.Join(from.dir, name))
	}
	copied(t, "testdata/view.lua", filepath.Join(from.dir, "view.lua"))
	copied(t, "../../runtime/reference/testdata/setting.lua", filepath.Join(from.dir, "setting.lua"))
	from.file("season.csv", "field,crop,trial,season,mission,start_date,end_date,description\n"+
		"Long acre,wheat,Density,2026-01-01,Emergence,2026-04-01,2026-04-10,count plants\n"+
		"Mill field,barley,Nitrogen,,Emergence,2026-04-02,2026-04-12,\n")
	from.file("deleted.txt", "deleted")
	from.must("run", "setting.lua")
	from.must("put", "deleted.txt", "North quarry")
	from.must("rm", "--yes", "North quarry/deleted.txt")
	from.must("export", "North quarry", "catalogue", "--format", "stac", "--files")
	var ran, guessed, idle atomic.Int32
	const step = 20
	first := rand.IntN(step)
	t.Run("of", func(t *testing.T) {
		for n, c := range twiceScripts(t) {
			if !all && n%step != first {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.run(t, from, &ran, &guessed, &idle)
			})
		}
	})
	t.Logf("%d scripts, %d of them on a guess; %d had nothing to do the second time",
		ran.Load(), guessed.Load(), idle.Load())
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err == nil && info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else if err == nil {
		var text []byte
		if text, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (c twice) run(t *testing.T, from *home, ran, guessed, idle *atomic.Int32) {
	h := newHome(t, 0, flightgen.Options{})
	copied(t, from.dir, h.dir)
	state := filepath.Join(h.dir, "state")
	copied(t, state, filepath.Join(h.dir, "state-planned"))
	planned, real := filepath.Join(h.dir, "planned"), filepath.Join(h.dir, "platform")
	if c.empty {
		if err := os.RemoveAll(real); err != nil {
			t.Fatal(err)
		}
		h.settings = []string{"TRANSECT_LOCAL=1"}
		h.must("ls")
	}
	copied(t, real, planned)
	h.file("case.lua", c.code)
	on := func(platform, state string) { // later settings count
		h.settings = []string{"TRANSECT_LOCAL=1", "TRANSECT_LOCAL_DIR=" + platform, "TRANSECT_STATE_DIR=" + state}
	}
	words := append([]string{"view.lua"}, c.args...)
	on(planned, filepath.Join(h.dir, "state-planned"))
	world := fingerprint(t, h.dir)
	stdout, stderr, code := h.run(slices.Concat([]string{"plan", "-o", "p.plan"}, words)...)
	if reason := unplanned[c.name]; reason != "" && code == 1 {
		t.Log("it is refused, as it cannot be planned: " + reason)
		return
	}
	if code != runtime.ExitOK && code != runtime.ExitPlanned {
		t.Fatalf("planning: exit code %d\n%s%s", code, stdout, stderr)
	}
	ran.Add(1)
	sameWorld(t, world, fingerprint(t, h.dir), "p.plan")
	if strings.Contains(stdout, " may differ: ") {
		guessed.Add(1)
	}
	expected := read(stderr)
	on(real, state)
	applied, stderr, code := h.run("apply", "--allow-effects", "p.plan")
	if code != 0 {
		t.Fatalf("applying: exit code %d\n%s\nof\n%s", code, stderr, stdout)
	}
	made := read(applied)
	more, less := differences(visible(expected), visible(made))
	if len(more)+len(less) > 0 {
		t.Errorf("on the platform, and not in the plan:\n%s\nin the plan, and not on the platform:\n%s\nof\n%s",
			strings.Join(more, "\n"), strings.Join(less, "\n"), stdout)
	}
	stdout, _, code = h.run(slices.Concat([]string{"plan"}, words)...)
	if code != 0 {
		return // it writes again, or says that it cannot
	}
	idle.Add(1)
	again, errors, failed := h.run(slices.Concat([]string{"run"}, words)...)
	if failed != 0 {
		t.Errorf("run again: exit code %d\n%s", failed, errors)
	}
	if more, less = differences(visible(made), visible(read(again))); len(more)+len(less) > 0 {
		t.Errorf("planned again it said\n%s\nand then wrote\n%s\nin place of\n%s", stdout, strings.Join(more, "\n"),
			strings.Join(less, "\n"))
	}
}

// read returns what view.lua has printed.
func read(printed string) []byte {
	var view strings.Builder
	for line := range strings.Lines(printed) {
		if record, ok := strings.CutPrefix(line, "view "); ok {
			view.WriteString(record)
		}
	}
	return []byte(view.String())
}

// visible are the lines of a view without what differs from platform to platform: ids
// are replaced by what the records say that have them, moments of the test by one word.
// Of products only the order counts: nobody knows what they make before they ran. Previews
// are drawn in the background.
func visible(view []byte) []string {
	var lines []string
	labels := map[string]string{}
	for line := range strings.Lines(string(view)) {
		text := strings.TrimSpace(line)
		for _, moment := range moments().FindAllString(text, -1) {
			if at, err := time.Parse(time.RFC3339, moment); err == nil && time.Since(at) < time.Hour {
				text = strings.ReplaceAll(text, moment, "now") // or some days from now
			}
		}
		leaveOut := []string{"properties.transect.run", "properties.transect.part_of", "properties.transect.write",
			"token", "preview"}
		switch of := gjson.Get(text, "of").Str; {
		case of == "datasets" && gjson.Get(text, "record.source.product").Exists():
			continue
		case of == "datasets" && gjson.Get(text, "record.properties.copied_from").Exists(): // its file is not read
			leaveOut = append(leaveOut, "footprint", "horizontal_srs_wkt", "feature_count", "format", "size", "width",
				"height", "sensor")
		case gjson.Get(text, "record.deletion_date").Exists(): // the platform may have read it before, or not
			leaveOut = append(leaveOut, "ingestion", "size", "modification_date", "modification_user")
		case of == "products":
			leaveOut = append(leaveOut, "progress", "status", "outputs", "deliverables", "start_date", "end_date",
				"modification_date", "modification_user")
		}
		for _, key := range leaveOut {
			text, _ = sjson.Delete(text, "record."+key)
		}
		if gjson.Get(text, "record.properties.transect").Raw == "{}" {
			text, _ = sjson.Delete(text, "record.properties.transect")
		}
		lines = append(lines, text)
		labels[gjson.Get(text, "record._id").Str] = gjson.Get(text, "of").Str
	}
	replaced := func(text string) string {
		return identifiers().ReplaceAllStringFunc(text, func(id string) string {
			if label, known := labels[id]; known {
				return label
			}
			return id
		})
	}
	for range 4 { // what a record refers to is known by what that refers to
		next := map[string]string{}
		for _, line := range lines {
			of := gjson.Get(line, "of").Str
			sum := fmt.Sprintf("%x", sha256.Sum256([]byte(replaced(line))))
			next[gjson.Get(line, "record._id").Str] = declare.Singular(of) + "-" + sum[:10]
		}
		labels = next
	}
	for i := range lines {
		lines[i] = replaced(lines[i])
	}
	return lines
}

var (
	moments = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	})
	identifiers = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`plan-[a-z_]+-\d{6,}|[0-9a-f]{24}`)
	})
)
