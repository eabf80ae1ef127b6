package browser_test

import (
	"path/filepath"
	"testing"
)

// The main job, watched: a folder before it is sent, the survey that comes live,
// what the analytic made on the map.
func TestSurveyAppearsLive(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	address, _ := s.ui("--local", s.flight())
	p := open(t, address)
	p.until(loadedMap + `?.dataset.loaded === "8"`)
	if n := eval[int](p, `document.querySelector("#map").map.photos.grounds.filter(Boolean).length`); n != 8 {
		t.Errorf("%d photos of the folder show their ground, want 8", n)
	}
	p.visit("/map")
	p.until(loadedMap + `?.dataset.loaded === "0"`)
	survey := s.start("run", "--local", filepath.Join(s.root, "scripts/survey.lua"), "--out", "out", s.flight())
	p.until(loadedMap + `?.dataset.loaded === "8"`) // by itself
	survey.wait(t)
	p.until(`document.querySelector("#map").map.shapes.all.some(s => s.name.includes("footprints"))`)
	p.until(`document.querySelector("#map").map.photos.grounds.filter(Boolean).length === 8`)
	p.picture("survey-live")
	p.visit("/products")
	p.reads("main", "flight_report")
	p.visit("/folder")
	p.reads("#files", "uploaded")
}
