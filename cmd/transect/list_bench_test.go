package main

import (
	"fmt"
	"os/exec"
	"testing"

	"transect/testdata/flightgen"
	"transect/testdata/peaktest"
)

// BenchmarkList lists 20,000 datasets of a served platform: the processor time of the
// second half beside that of the first, and memory.
func BenchmarkList(b *testing.B) {
	h := newHome(b, 0, flightgen.Options{})
	s := serve(b, h)
	h.settings = []string{"TRANSECT_URL=" + s.URL, "TRANSECT_USER=" + s.User, "TRANSECT_PASSWORD=" + s.Password}
	h.file("fill.lua", `
local sdk = require("sdk")
local project = sdk.projects.find_or_create{ name = "Big" }
local mission = sdk.missions.find_or_create{ project = project, name = "Many" }
for i = 1, 20 do
  local list = {}
  for j = 1, 1000 do
    list[j] = { name = i * 1000 + j .. ".jpg", type = "file", project = project.id, mission = mission.id,
      components = { { name = "file" } } }
  end
  sdk.datasets.create_datasets{ datasets = list }
end`)
	h.must("run", "fill.lua")
	list := func(limit int) *exec.Cmd {
		cmd := h.command("ls", "Big/Many", "--limit", fmt.Sprint(limit))
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return cmd
	}
	var times [3]float64
	var peak int64
	for b.Loop() {
		for i, limit := range []int{1, 10_000, 20_000} {
			p := list(limit).ProcessState
			times[i] += (p.UserTime() + p.SystemTime()).Seconds()
			peak = max(peak, peaktest.Of(p))
		}
	}
	b.ReportMetric((times[2]-times[1])/(times[1]-times[0]), "second/first-half")
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
}
