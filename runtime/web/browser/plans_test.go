package browser_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// plan makes a plan of a script in the home folder.
func (s *site) plan(file string, words ...string) {
	s.t.Helper()
	out, err := s.command(append([]string{"plan", "--local"}, append(words, "-o", file)...)...).CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 8 {
		s.t.Fatalf("transect plan: %v\n%s", err, out)
	}
}

// The plan of the survey is looked at, on the map too, and carried out; then it has
// nothing more to do.
func TestPlan(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	s.plan("survey.plan", filepath.Join(s.root, "scripts", "survey.lua"), filepath.Join(s.root, "testdata", "flight"))
	address, _ := s.ui("--local", "--allow-actions")
	p := open(t, address)
	p.visit("/plans")
	p.reads("main table", "survey.lua")
	p.fits("/plans at 1280")
	p.picture("plans")
	p.click("main td a")
	p.reads("main", "Script, files and platform are as they were")
	p.reads(".plan-lines", "8 datasets, 40 kB, into \"flight 2024-05-14\"")
	p.reads("h2", "10 to create, 8 files of 40 kB, 1 order")
	p.until(`document.querySelector("#map").map?.photos.n === 8 && document.querySelector("#map").map.shapes.all.length === 1`)
	p.click(`tr[data-show="write-2"] td`)
	p.reads("#map [data-part=panel] h2", "flight 2024-05-14")
	p.fits("/plans/ID at 1280")
	p.picture("plan")
	p.width(narrow)
	p.fits("/plans/ID at 400")
	p.picture("plan-narrow")
	p.width(wide)

	p.click(".confirm summary")
	p.click(".confirm form button")
	p.reads("main", "The plan was started")
	p.reads("#plan-state", "applied: 19 of 19 planned writes") // it follows by itself
	p.reads("#plan-state", "success")
	p.picture("plan-applied")
	p.visit(eval[string](p, "location.pathname"))
	if n := eval[int](p, `document.querySelectorAll(".confirm").length`); n != 0 {
		t.Error("what is done can be carried out once more")
	}
	p.click("#plan-state a.badge")
	p.reads("main", "survey.lua")
	p.visit("/datasets?name=FLIGHT_")
	p.reads("main", "of 8 datasets")
}

// Names in a plan that are markup do nothing, on the map neither.
func TestPlanOfHostileNames(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	script := s.write("hostile.lua", fmt.Sprintf(`local sdk = require("sdk")
local p = sdk.projects.create{ name = [==[%s]==], company = sdk.users.describe().company }
sdk.annotations.create{ project = p, name = [==[%s]==], geometry = { type = "Point", coordinates = { 4, 50 } } }`, hostileName, hostileName))
	s.plan("hostile.plan", script, hostileName)
	address, _ := s.ui("--local")
	p := open(t, address)
	p.visit("/plans")
	p.click("main td a")
	p.reads(".plan-lines", "<img src=x onerror=alert(1)>")
	p.until(`document.querySelector("#map").map?.shapes.all.length === 1`)
	p.click(`tr[data-show="write-2"] td`)
	p.reads("#map [data-part=panel] h2", "<script>alert(2)")
	if n := eval[int](p, `document.querySelectorAll("main img, main script").length`); n != 0 {
		t.Error("markup of a name became part of the page")
	}
	if text := eval[string](p, `document.querySelector("main").innerText`); !strings.Contains(text, "transect apply") {
		t.Errorf("a page that only reads does not say how to carry it out: %s", text)
	}
}
