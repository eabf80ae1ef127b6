package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"testing"

	"github.com/google/pprof/profile"

	"transect/testdata/flightgen"
	"transect/testdata/floor"
)

// profileFolder is where each process of the program sampled leaves its CPU profile.
const profileFolder = "TRANSECT_PGO_FOLDER"

// sampled is the program transect with a CPU profile of itself.
func sampled() {
	f, err := os.CreateTemp(os.Getenv(profileFolder), "*.pprof")
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		panic(err)
	}
	code := execute(newProcess())
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// TestMakeProfile makes default.pgo, by which the compiler decides what to inline, from
// what users run: the main job, iterations, ingests, and a script full of calls.
func TestMakeProfile(t *testing.T) {
	if os.Getenv("TRANSECT_PGO") == "" {
		t.Skip("it writes default.pgo anew, only when TRANSECT_PGO=1 asks for that")
	}
	h := newHome(t, 400, flightgen.Options{FileSize: 200 << 10})
	few, err := filepath.Abs("../../testdata/flight")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("sampled")
	if err != nil {
		t.Fatal(err)
	}
	s := floor.Serve(t, 0)
	folder := t.TempDir()
	h.program = program
	h.settings = []string{profileFolder + "=" + folder, "TRANSECT_URL=" + s.URL, "TRANSECT_ACCESS_TOKEN=token"}
	const records = 400_000
	for name, text := range map[string]string{"50.lua": fmt.Sprintf(iterateScript, records, "50"),
		"500.lua": fmt.Sprintf(iterateScript, records, "500"), "ingest.lua": ingestScript, "map.lua": mapScript,
		"calls.lua": callsScript} {
		h.file(name, text)
	}
	for round := range 20 {
		s.Records = 0
		h.must("run", "ingest.lua", "flight", fmt.Sprint("fast ", round))
		h.must("run", "map.lua", "flight", fmt.Sprint("side by side ", round))
		if round%10 == 0 {
			h.must("run", "--local", h.survey, "--out", fmt.Sprint("out", round), "--mission", fmt.Sprint("Survey ", round), few)
		}
		if s.Records = records; round%3 == 0 {
			h.must("run", "50.lua")
			h.must("run", "500.lua")
			h.must("run", "calls.lua")
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.pprof"))
	if err != nil {
		t.Fatal(err)
	}
	var profiles []*profile.Profile
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.ParseData(text)
		if err != nil {
			t.Fatal(err)
		}
		profiles = append(profiles, p)
	}
	merged, err := profile.Merge(profiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range merged.Mapping {
		m.File = "transect" // not where it lay on this machine
	}
	out, err := os.Create("default.pgo")
	if err == nil {
		err = errors.Join(merged.Write(out), out.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

const callsScript = `
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local Point = {}
Point.__index = Point
function Point:add(d) self.x, self.y = self.x + d, self.y - d return self end
local p, words = setmetatable({ x = 0, y = 0 }, Point), {}
for i = 1, 300000 do
  p:add(i)
  local ok, value = pcall(function(a, ...) return select("#", ...) + a end, i, i, i)
  words[i % 1000 + 1] = string.format("%05d", value) .. tostring(ok)
  for _, w in ipairs{ words[i % 1000 + 1]:match("^(%d+)(%a+)$") } do p.n = #w end
end
table.sort(words, function(a, b) return a < b end)
assert(fib(27) == 196418)
`
