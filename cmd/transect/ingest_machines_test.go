package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/testdata/flightgen"
)

// TestTwoMachinesIngest lets two machines, each with its own state and its own
// copy of the card at another place, bring the same files into one new mission of
// a new project at once: photos, a shapefile, a file in parts. Each run ends well
// and counts every file; nothing is doubled in the end, project and mission neither,
// nothing is missing, and a third run finds nothing to do.
func TestTwoMachinesIngest(t *testing.T) {
	t.Parallel()
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	first := newHome(t, 20, flightgen.Options{FileSize: 40 << 10})
	card := filepath.Join(first.dir, "flight")
	data := make([]byte, 25<<20)
	rand.NewChaCha8([32]byte{7}).Read(data)
	files := map[string][]byte{"cloud.bin": data, "notes.txt": []byte("windy"), "area.shp": shapeHead(), "area.shx": shapeHead(),
		"area.dbf": append([]byte("\x03\x10\x01\x01\x00\x00\x00\x00\x21\x00\x01\x00"), make([]byte, 40)...), "area.prj": []byte(`GEOGCS["WGS 84"]`)}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(card, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const items = 20 + 3
	s := serve(t, first)
	second := newHome(t, 0, flightgen.Options{})
	if err := os.CopyFS(filepath.Join(second.dir, "flight"), os.DirFS(card)); err != nil {
		t.Fatal(err)
	}
	for _, h := range []*home{first, second} {
		h.settings = []string{"TRANSECT_URL=" + s.URL, "TRANSECT_USER=" + s.User, "TRANSECT_PASSWORD=" + s.Password,
			"TRANSECT_CLIENT_ID=" + s.ClientID, "TRANSECT_CLIENT_SECRET=" + s.ClientSecret}
		h.file("ingest.lua", machineScript)
	}
	for round := range rounds {
		name := fmt.Sprint("both ", round)
		type end struct {
			out, stderr string
			code        int
		}
		ends := make(chan end, 2)
		for _, h := range []*home{first, second} {
			go func() {
				out, stderr, code := h.run("run", "ingest.lua", "ingest", name)
				ends <- end{out, stderr, code}
			}()
		}
		uploaded := 0
		for range 2 {
			e := <-ends
			var a ingestAnswer
			if err := json.Unmarshal([]byte(e.out), &a); err != nil || e.code != 0 || a.Total != items || a.Bad != 0 {
				t.Errorf("round %d: exit code %d, %s\n%s", round, e.code, e.out, e.stderr)
			}
			uploaded += a.Uploaded
		}
		var there struct {
			Projects, Missions int
			Files              []struct{ Name, Status string }
			Verdict            struct{ There, Different, Missing, Extra int }
		}
		if err := json.Unmarshal([]byte(second.must("run", "ingest.lua", "look", name)), &there); err != nil {
			t.Fatal(err)
		}
		if there.Projects != 1 || there.Missions != 1 {
			t.Errorf("round %d: %d projects, %d missions", round, there.Projects, there.Missions)
		}
		seen := map[string]bool{}
		for _, f := range there.Files {
			if seen[f.Name] || strings.Trim(f.Status, " ") != "completed" {
				t.Errorf("round %d: %+v, there twice: %v", round, f, seen[f.Name])
			}
			seen[f.Name] = true
		}
		if len(there.Files) != items || there.Verdict.There != items || there.Verdict.Different+there.Verdict.Missing+there.Verdict.Extra != 0 {
			t.Errorf("round %d: %d datasets, want %d; %+v", round, len(there.Files), items, there.Verdict)
		}
		var a ingestAnswer
		if err := json.Unmarshal([]byte(first.must("run", "ingest.lua", "ingest", name)), &a); err != nil || a.AlreadyThere != items || a.Total != items {
			t.Errorf("round %d: a third run: %+v, %v", round, a, err)
		}
		t.Logf("round %d: the two sent %d files for %d", round, uploaded, items)
	}
}

func shapeHead() []byte {
	head := make([]byte, 100)
	copy(head[2:], "\x27\x0a")
	head[27], head[29] = 50, 3 // 100 bytes; version 1000
	head[28] = 0xe8
	return head
}

const machineScript = `
local ingest, sdk, json = require("ingest"), require("sdk"), require("json")
local what, name = arg[1], arg[2]
local project = sdk.projects.find_or_create{ name = name }
local mission = sdk.missions.find_or_create{ project = project, name = name, survey_date = "2026-05-31", number_of_images = 20,
  coordinates = { {4, 50}, {4.1, 50}, {4.1, 50.1}, {4, 50} } }
if what == "look" then
  local found = {}
  for d in sdk.datasets.search_generator{ filter = { mission = { ["$eq"] = mission.id } } } do
    local status = {}
    for _, c in ipairs(d.components) do status[c.status] = true end
    found[#found + 1] = { name = d.name, status = next(status, next(status)) and "several" or next(status) }
  end
  local v = ingest.verify{ source = "flight", mission = mission }
  local named = { filter = { name = { ["$eq"] = name } } }
  local projects, missions = sdk.projects.search(named), sdk.missions.search(named)
  print(json.encode{ projects = #projects, missions = #missions, files = found, verdict = { there = v.already_there, different = v.different, missing = v.missing, extra = v.extra } })
  return
end
local r = ingest.run{ source = "flight", mission = mission, progress = false, batch = 4 }
print(json.encode{ total = r.total, uploaded = r.uploaded, already_there = r.already_there, bad = r.bad, bytes = r.bytes })
`
