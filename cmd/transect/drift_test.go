package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"transect/runtime"
	"transect/testdata/flightgen"
)

// What others change, delete or add between a plan and its apply is found for every kind
// of record that a plan can name: it is named, and nothing is sent. Without
// TRANSECT_DRIFT=all each kind meets one of the three.
func TestDriftOfEachKind(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it starts a hundred processes")
	}
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	h.settings = []string{"TRANSECT_LOCAL=1"}
	for _, file := range []string{"kinds.lua", "setting.lua", "others.lua", "night.lua"} {
		copied(t, filepath.Join("testdata/drift", file), filepath.Join(h.dir, file))
	}
	copied(t, "testdata/view.lua", filepath.Join(h.dir, "view.lua"))
	h.file("case.lua", "")
	h.must("run", "setting.lua")
	kinds, err := os.ReadFile("testdata/drift/kinds.lua")
	if err != nil {
		t.Fatal(err)
	}
	type drift struct{ kind, by, file string }
	var plans []drift
	for n, declared := range regexp.MustCompile(`(?m)^(kind|known)\("(\w+)", .*`).FindAllStringSubmatch(string(kinds), -1) {
		for i, by := range []string{"deleted", "changed", "added"} {
			if os.Getenv("TRANSECT_DRIFT") == "all" || n%3 == i {
				plans = append(plans, drift{declared[2], by, declared[2] + "-" + by + ".plan"})
			}
		}
	}
	for _, p := range plans {
		if stdout, stderr, code := h.run("plan", "night.lua", p.kind, p.by, "-o", p.file); code != runtime.ExitPlanned {
			t.Fatalf("%s: planning: exit code %d\n%s%s", p.file, code, stdout, stderr)
		}
	}
	impossible := strings.Fields(h.must("run", "others.lua"))
	plans = slices.DeleteFunc(plans, func(p drift) bool { return slices.Contains(impossible, p.file) })
	view := func() []string {
		return visible(read(h.must("run", "view.lua")))
	}
	before := view()
	for _, p := range plans {
		_, stderr, code := h.run("apply", p.file)
		said := regexp.MustCompile(`(?m)^ +.*(was (changed|deleted)|finds .*[0-9a-f]{24}.*)$`).FindString(stderr)
		if code != runtime.ExitDrift || said == "" {
			t.Errorf("%s: exit code %d\n%s", p.file, code, stderr)
		}
		t.Log(p.file, said)
	}
	if more, less := differences(before, view()); len(more)+len(less) > 0 {
		t.Errorf("something was sent: %q in place of %q", more, less)
	}
	t.Logf("%d plans; not possible: %d", len(plans), len(impossible))
}
