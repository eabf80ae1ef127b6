package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/testdata/flightgen"
)

// A disk that fills in the middle of a run stops it before it sends what it cannot
// note; once there is room, the run goes on and repeats nothing.
func TestDiskFillsInTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	write(t, h.dir, "many.lua", `local sdk = require("sdk")
local company = sdk.users.describe().company
for i = 1, 200 do sdk.projects.create{ name = "P" .. i, company = company } end`)
	write(t, h.dir, "count.lua", `local names, n, all = {}, 0, 0
for p in require("sdk").projects.search_generator{} do
  all = all + 1
  if not names[p.name] then names[p.name], n = true, n + 1 end
end
print(n, all)`)
	h.must("run", "--local", "count.lua")
	d := newDisk(h)
	ballast := filepath.Join(d.folder, "ballast")
	info, err := os.Stat(ballast)
	if err == nil {
		err = os.Truncate(ballast, info.Size()-64<<10)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.settings = []string{"TRANSECT_STATE_DIR=disk/state"}
	run := []string{"run", "--local", "--run", "full", "--settle", "1s", "many.lua"}
	_, stderr, code := h.run(run...)
	if code != 5 || !strings.Contains(stderr, "projects.create: the ledger of the run cannot be written") || !strings.Contains(stderr, "make room") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	made := strings.Fields(h.must("run", "--local", "count.lua"))
	if len(made) != 2 || made[0] == "0" || made[0] == "200" || made[0] != made[1] {
		t.Errorf("in the middle: %q", made)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code = h.run(run...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if made = strings.Fields(h.must("run", "--local", "count.lua")); strings.Join(made, " ") != "200 200" {
		t.Errorf("at the end: %q", made)
	}
}
