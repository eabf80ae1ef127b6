package main

import (
	"crypto/md5"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"
)

// What STAC 1.1 requires of its objects.
const (
	stacLinks   = `{"type":"array","items":{"type":"object","required":["rel","href"],"properties":{"rel":{"type":"string","minLength":1},"href":{"type":"string","minLength":1}}}}`
	stacCatalog = `{"type":"object","required":["type","stac_version","id","description","links"],
		"properties":{"type":{"const":"Catalog"},"stac_version":{"const":"1.1.0"},"id":{"type":"string","minLength":1},
		"description":{"type":"string","minLength":1},"links":` + stacLinks + `}}`
	stacCollection = `{"type":"object","required":["type","stac_version","id","description","license","extent","links"],
		"properties":{"type":{"const":"Collection"},"stac_version":{"const":"1.1.0"},"id":{"type":"string","minLength":1},
		"description":{"type":"string","minLength":1},"license":{"type":"string"},"links":` + stacLinks + `,
		"extent":{"type":"object","required":["spatial","temporal"],"properties":{
			"spatial":{"type":"object","required":["bbox"],"properties":{"bbox":{"type":"array","minItems":1,
				"items":{"type":"array","minItems":4,"maxItems":4,"items":{"type":"number"}}}}},
			"temporal":{"type":"object","required":["interval"],"properties":{"interval":{"type":"array","minItems":1,
				"items":{"type":"array","minItems":2,"maxItems":2,"items":{"type":["string","null"]}}}}}}}}}`
	stacItem = `{"type":"object","required":["type","stac_version","id","geometry","properties","links","assets"],
		"properties":{"type":{"const":"Feature"},"stac_version":{"const":"1.1.0"},"id":{"type":"string","minLength":1},
		"geometry":{"type":["object","null"]},"bbox":{"type":"array","minItems":4,"maxItems":4,"items":{"type":"number"}},
		"links":` + stacLinks + `,"collection":{"type":"string"},
		"stac_extensions":{"type":"array","items":{"type":"string"}},
		"properties":{"type":"object","required":["datetime"],"properties":{"datetime":{"type":"string",
			"pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$"}}},
		"assets":{"type":"object","additionalProperties":{"type":"object","required":["href"],"properties":{
			"href":{"type":"string","minLength":1},"roles":{"type":"array","items":{"type":"string"}},
			"file:size":{"type":"integer","minimum":0},"file:checksum":{"type":"string","pattern":"^d50110[0-9a-f]{32}$"}}}}},
		"if":{"properties":{"geometry":{"type":"object"}}},"then":{"required":["bbox"]},
		"else":{"not":{"required":["bbox"]}}}`
)

// Each form of an export has each dataset once, is valid, and what it names is there. Names that are hostile as paths, XML
// or CSV are only names.
func TestExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "make.lua", `local sdk, fs, geo, script = require("sdk"), require("fs"), require("geo"), require("script")
local project = sdk.projects.create{ name = arg[2], company = sdk.users.describe().company }
local m = sdk.missions.create_mission{ name = '"May" <&>', project = project, survey_date = "2024-05-14T00:00:00.000Z" }
require("ingest").run{ source = arg[1], project = project, mission = m, progress = false }
sdk.missions.create_mission{ name = "empty", project = project, survey_date = "2024-05-15T00:00:00.000Z" }
for i, name in ipairs{ "../../../escape.txt", "a,\"b\"\n<c>.txt", "plain.txt", "first.txt", "second.txt" } do
  local twice -- two missions of one name
  if i > 3 then
    twice = sdk.missions.create_mission{ name = "twice", project = project, survey_date = "2024-05-0" .. 9 - i .. "T00:00:00.000Z" }
  end
  local d = sdk.datasets.create_file_dataset{ name = name, project = project, mission = twice }
  fs.write("some.txt", name)
  sdk.datasets.upload_file(d, { component = "file", file_path = "some.txt" })
end
sdk.annotations.create{ project = project, type = "2d", geometry = geo.polygon{ { 4, 52 }, { 5, 52 }, { 5, 53 } }, name = "pit & <pile>", description = "=1+1" }
local c = sdk.collections.create{ name = "trees" }
sdk.features.create{ collection = c, geometry = geo.point(4.5, 52), properties = { kind = "oak" } }
sdk.datasets.create_vector_dataset{ name = "trees", project = project, collection = c }
`)
	flight, err := filepath.Abs("../../testdata/flight")
	if err != nil {
		t.Fatal(err)
	}
	const project = `North <"quarry">`
	run := func(args ...string) string {
		t.Helper()
		out, code := start(t, dir, []string{"TRANSECT_LOCAL=1", "TRANSECT_LOCAL_DIR=" + filepath.Join(dir, "platform"),
			"TRANSECT_STATE_DIR=" + filepath.Join(dir, "state")}, args...).end()
		if code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, out)
		}
		return out
	}
	run("run", "make.lua", flight, project)
	run("wait", project) // until every file has been read
	const missions, photos, others = 4, 8, 6

	run("export", project, "stac", "--format", "stac", "--files")
	checkSTAC(t, filepath.Join(dir, "stac"), missions+1, photos+others)
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "escape.txt")); err == nil {
		t.Error("a file was written outside of the folder")
	}

	// Imported into an empty project, each dataset with files is as it was; a second time nothing is created.
	run("import", "stac", "Back", "--create")
	run("wait", "Back")
	before, after := fields(t, run("ls", "datasets", project, "--json")), fields(t, run("ls", "datasets", "Back", "--json"))
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("imported again (-before +after)\n%s", diff)
	}
	shapes := func(project string) (all []string) {
		for line := range strings.Lines(run("ls", "missions", project, "--json")) {
			all = append(all, gjson.Get(line, "name").Str+" "+gjson.Get(line, "survey_date").Str+" "+gjson.Get(line, "geometry").Raw)
		}
		return all
	}
	if diff := cmp.Diff(shapes(project), shapes("Back")); diff != "" || len(shapes("Back")) != missions {
		t.Errorf("imported %d missions (-before +after)\n%s", missions, diff)
	}
	if out := run("import", "stac", "Back", "--json"); strings.Count(out, `"already_there"`) != len(before) {
		t.Errorf("a second import: %s", out)
	}

	want := map[string]int{"photos": photos, "footprints": photos, "flight_lines": 1, "datasets": others, "annotations": 1, "features": 1}
	run("export", project, "gpkg", "--format", "gpkg")
	run("export", project, "geojson", "--format", "geojson")
	run("export", project, "csv", "--format", "csv")
	for layer, n := range want {
		for _, file := range []string{"gpkg/project.gpkg", "geojson/" + layer + ".geojson"} {
			out, err := exec.Command("ogrinfo", "-ro", "-so", filepath.Join(dir, file), layer).CombinedOutput()
			if err != nil || !strings.Contains(string(out), fmt.Sprintf("Feature Count: %d\n", n)) || strings.Contains(string(out), "Warning") {
				t.Errorf("%s, %s: want %d features: %v\n%s", file, layer, n, err, out)
			}
		}
		f, err := os.Open(filepath.Join(dir, "csv", layer+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if rows, err := csv.NewReader(f).ReadAll(); err != nil || len(rows) != n+1 {
			t.Errorf("%s.csv has %d rows, want %d and the header: %v", layer, len(rows), n, err)
		}
	}

	run("export", project, "qgis", "--format", "qgis")
	f, err := os.Open(filepath.Join(dir, "qgis/project.qgs"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sources := 0
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "datasource" {
			var source string
			if err := d.DecodeElement(&source, &e); err != nil {
				t.Fatal(err)
			}
			name, layer, _ := strings.Cut(source, "|layername=")
			if _, known := want[layer]; !known || name != "./project.gpkg" {
				t.Errorf("the project of QGIS has the layer %s", source)
			}
			sources++
		}
	}
	if sources != len(want) {
		t.Errorf("the project of QGIS has %d layers, want %d", sources, len(want))
	}

	if _, code := start(t, dir, nil, "export", "--local", project, "stac", "--format", "stac").end(); code != 2 {
		t.Errorf("an export into a folder with files: exit code %d", code)
	}
}

// fields returns what an export keeps of each dataset with files.
func fields(t *testing.T, lines string) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for line := range strings.Lines(lines) {
		var d map[string]any
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if d["type"] == "vector" {
			continue // it shows a collection
		}
		for _, c := range d["components"].([]any) {
			delete(c.(map[string]any), "filename") // cleaned where it was not a name
		}
		kept := map[string]any{}
		for _, name := range []string{"name", "type", "format", "acquisition_date", "geometry", "footprint", "sensor", "width", "height",
			"size", "components", "categories", "hidden", "published"} {
			kept[name] = d[name]
		}
		all[d["name"].(string)] = kept
	}
	return all
}

func checkSTAC(t *testing.T, dir string, missions, datasets int) {
	t.Helper()
	collections, items := 0, 0
	var visit func(path, schema string)
	visit = func(path, schema string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal([]byte(schema), &s); err != nil {
			t.Fatal(err)
		}
		valid, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := valid.Validate(value); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		var object struct {
			Links  []struct{ Rel, Href string }
			Assets map[string]struct {
				Href string
				Size int64  `json:"file:size"`
				MD5  string `json:"file:checksum"`
			}
		}
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		there := func(href string) string {
			name, err := url.PathUnescape(href)
			if err != nil {
				t.Fatal(err)
			}
			return filepath.Join(filepath.Dir(path), name)
		}
		for _, l := range object.Links {
			switch l.Rel {
			case "child":
				collections++
				visit(there(l.Href), stacCollection)
			case "item":
				items++
				visit(there(l.Href), stacItem)
			default:
				if _, err := os.Stat(there(l.Href)); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
		for _, a := range object.Assets {
			content, err := os.ReadFile(there(a.Href))
			sum := md5.Sum(content)
			if err != nil || int64(len(content)) != a.Size || a.MD5 != "d50110"+hex.EncodeToString(sum[:]) {
				t.Errorf("%s: %s: %v, %d bytes", path, a.Href, err, len(content))
			}
		}
	}
	visit(filepath.Join(dir, "catalog.json"), stacCatalog)
	if items != datasets || collections != missions {
		t.Errorf("the catalogue has %d items of %d datasets, in %d collections of %d missions", items, datasets, collections, missions)
	}
}
