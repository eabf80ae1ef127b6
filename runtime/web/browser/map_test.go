package browser_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"transect/client/geodesic"
)

// map of the page, once it has read everything.
const loadedMap = `document.querySelector("#map[data-loaded]")`

// module evaluates an expression with a module of the map as m.
func module[T any](p *tab, name, expression string) T {
	p.t.Helper()
	return eval[T](p, fmt.Sprintf(`import("/static/map/%s.js").then(m => %s)`, name, expression))
}

// The first view fits what was flown, though a drawing spans a country; each layer can be zoomed to.
func TestMapFitsItsLayers(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	s.run("run", "--local", filepath.Join(s.root, "scripts", "survey.lua"), filepath.Join(s.root, "testdata", "flight"))
	s.run("run", "--local", s.write("draw.lua", `local sdk, geo = require("sdk"), require("geo")
local project = sdk.projects.search{}[1]
sdk.annotations.create{ project = project, type = "2d", geometry = geo.polygon{ { 0, 45 }, { 9, 45 }, { 9, 54 } }, name = "country" }`))
	address, _ := s.ui("--local")
	p := open(t, address)
	p.visit("/map")
	p.until(loadedMap + `?.dataset.loaded === "8"`)
	zoom := func() float64 { return eval[float64](p, `document.querySelector("#map").map.view.zoom`) }
	if z := zoom(); z < 14 {
		t.Errorf("the first view of a flight has the zoom %v", z)
	}
	p.click(".map-layers summary")
	p.click(`[aria-label="Zoom to annotations"]`)
	if z := zoom(); z > 8 {
		t.Errorf("zoomed to the drawing: %v", z)
	}
	p.click(`[aria-label="Zoom to flight lines"]`)
	if z := zoom(); z < 14 {
		t.Errorf("zoomed to the flight lines: %v", z)
	}
	p.click(`[aria-label="Zoom to gaps"]`)
	p.reads("[data-part=summary]", "There are no gaps here.")
	p.click(`[aria-label="Show everything"]`)
	if z := zoom(); z > 8 {
		t.Errorf("everything: %v", z)
	}
}

func TestMapOfAFlight(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	s.run("run", "--local", filepath.Join(s.root, "scripts", "survey.lua"), filepath.Join(s.root, "testdata", "flight"))
	address, _ := s.ui("--local")
	p := open(t, address)
	p.visit("/map")
	p.until(loadedMap + `?.dataset.loaded === "8"`)
	if n := eval[int](p, `document.querySelectorAll(".thumb").length`); n != 8 {
		t.Errorf("the strip has %d photos, want 8", n)
	}
	if n := eval[int](p, `document.querySelector("#map").map.photos.grounds.filter(Boolean).length`); n != 8 {
		t.Errorf("%d photos show their ground, want 8", n)
	}

	// A photo is selected in the strip and on the map.
	p.click(".thumb:nth-child(3)")
	p.reads(".map-panel h2", "FLIGHT_0003.JPG")
	p.until(`location.hash.split("/").length > 3`) // the address follows the map, a moment later
	link := eval[string](p, `location.hash`)
	place := p.clickPhoto(5, "FLIGHT_0006.JPG")
	p.until(`document.querySelector(".thumb[aria-selected=true]")?.innerText === "FLIGHT_0006.JPG"`)

	// The keyboard moves, zooms, steps through the photos, and ends a selection.
	eval[bool](p, `(document.querySelector("canvas").focus(), true)`)
	before := eval[float64](p, `document.querySelector("#map").map.view.zoom`)
	p.press("+", kb.ArrowLeft, "n")
	p.reads(".map-panel h2", "FLIGHT_0007.JPG")
	if zoom := eval[float64](p, `document.querySelector("#map").map.view.zoom`); math.Abs(zoom-before-0.5) > 1e-9 {
		t.Errorf("+ changes the zoom from %v to %v", before, zoom)
	}
	p.press(kb.Escape)
	p.reads(".map-panel h2", "Missions")

	// Measuring.
	p.click("[data-measure=distance]")
	p.clickAt(place[0], place[1])
	p.clickAt(place[0]+60, place[1])
	p.until(`/^[\d.,]+ (m|km)$/.test(document.querySelector(".map-measured").innerText)`)
	p.press(kb.Escape)

	// A link leads to the same place and selection, in another browser as well.
	p.visit("/map" + link)
	p.reads(".map-panel h2", "FLIGHT_0003.JPG")

	// Also where the map writes its own place before it is told of the other.
	p.press(kb.Escape)
	p.reads(".map-panel h2", "Missions")
	eval[bool](p, fmt.Sprintf(`(() => {
		const map = document.querySelector("#map").map;
		map.moved();
		location.hash = %s;
		map.writeAddress();
		return true;
	})()`, quoted(link)))
	p.reads(".map-panel h2", "FLIGHT_0003.JPG")

	for _, pixels := range []int64{wide, narrow} {
		p.width(pixels)
		p.visit("/map")
		p.until(loadedMap)
		p.fits("the map")
		p.picture(fmt.Sprintf("map-%d", pixels))
	}
	p.visit("/report")
	p.see("svg.plan")
	p.picture("report")
	printed, err := chromedp.Call(p.ctx, page.PrintToPDF, page.PrintToPDFParams{})
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(printed.Data, []byte("/Type /Page\n")); n < 1 || n > 2 {
		t.Errorf("the flight report has %d pages, want 1 or 2", n)
	}
}

// clickPhoto clicks a photo on the map until the panel shows it, and returns where it
// was: the map may still move when its pictures arrive.
func (p *tab) clickPhoto(i int, name string) []float64 {
	p.t.Helper()
	for began := time.Now(); ; {
		at := eval[[]float64](p, fmt.Sprintf(`(() => {
			const m = document.querySelector("#map").map, b = m.canvas.getBoundingClientRect();
			return [b.left + m.view.px(m.photos.x[%d]), b.top + m.view.py(m.photos.y[%[1]d])];
		})()`, i))
		p.clickAt(at[0], at[1])
		if strings.Contains(p.text(".map-panel h2"), name) {
			return at
		}
		if time.Since(began) > patience {
			p.t.Fatalf("a click on %s selects nothing\n%s", name, p.body())
		}
	}
}

func TestFolderBecomesASurvey(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	flight := filepath.Join(s.dir, "flight")
	if err := os.CopyFS(flight, os.DirFS(filepath.Join(s.root, "testdata", "flight"))); err != nil {
		t.Fatal(err)
	}
	markup := `<img src=x onerror=document.title='owned'>.JPG`
	if err := os.WriteFile(filepath.Join(flight, markup), []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	address, _ := s.ui("--local", flight)
	p := open(t, address)
	p.visit("/map")
	p.reads(".map-empty", "Nothing here has a position yet.")
	p.visit("/folder")
	p.until(loadedMap + `?.dataset.loaded === "8"`)
	p.reads("#files", "ready to send")
	p.reads("#files", markup)
	p.picture("folder")
	p.scripts(false)
	p.visit("/folder")
	p.reads("#files", "damaged")
	p.scripts(true)
	p.visit("/folder")
	p.until(loadedMap)
	s.run("put", "--local", flight, "Quarry/May", "--create", "--include", "FLIGHT*")
	p.reads("#files", "uploaded")
	p.visit("/map")
	p.until(loadedMap + `?.dataset.loaded === "8"`)
	p.scripts(false)
	p.visit("/map")
	p.reads("main", "May")
	p.scripts(true)
}

func TestMapsOwnArithmetic(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	address, _ := s.ui("--local")
	p := open(t, address)
	for _, points := range [][][2]float64{
		{{8, 50}, {8.01, 50.005}}, {{179.99, -17}, {-179.99, -17.01}, {-179.98, -17.2}}, {{0, 0}, {10, 0}, {10, 10}}, {{-70, -33}, {151, -34}, {20, 80}}, {{0, 89}, {120, 89}, {-120, 89}},
	} {
		text, _ := json.Marshal(points)
		if got, want := module[float64](p, "geodesic", "m.distance("+string(text)+")"), geodesic.Length(points); math.Abs(got-want) > 1e-6+want*1e-12 {
			t.Errorf("distance along %s: %v, want %v", text, got, want)
		}
		if len(points) < 3 {
			continue
		}
		if got, want := module[float64](p, "geodesic", "m.area("+string(text)+")"), geodesic.Area(points); math.Abs(got-want) > 1e-3+want*1e-9 {
			t.Errorf("area of %s: %v, want %v", text, got, want)
		}
	}
	for name, expression := range map[string]string{
		"the corners of the world":       `Math.abs(m.toY(85.0511287798066)) < 1e-12 && Math.abs(m.toY(-85.0511287798066) - 1) < 1e-12 && m.toX(-180) === 0 && m.toX(180) === 1`,
		"there and back":                 `[[8, 50], [-179.9, -70], [0, 0]].every(([lon, lat]) => Math.abs(m.toLon(m.toX(lon)) - lon) < 1e-9 && Math.abs(m.toLat(m.toY(lat)) - lat) < 1e-9)`,
		"the nearest copy of a meridian": `m.nearest(0.99, 0.01) < 0 && m.nearest(0.01, 0.99) > 1`,
	} {
		if !module[bool](p, "mercator", expression) {
			t.Errorf("%s: false", name)
		}
	}
	for ring, want := range map[string]float64{ // how wide it is drawn, in degrees
		"[[179,0],[-179,0],[-179,1],[179,1],[179,0]]":                             2,
		"[[-175,-20],[-70,-33],[174,-41],[139,35],[-21,64],[-157,21],[-175,-20]]": 349, // around most of the earth
		"[[-180,-85],[180,-85],[180,-70],[-180,-70],[-180,-85]]":                  360,
	} {
		if got := module[float64](p, "shapes", `(x => (Math.max(...x) - Math.min(...x)) * 360)([...m.unfold(`+ring+`)].filter((_, i) => i % 2 === 0))`); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s is drawn %v degrees wide, want %v", ring, got, want)
		}
	}
	if box := module[[]float64](p, "photos", `m.boundsOf([0.999, 0.001, 0.998], [0.4, 0.5, 0.45])`); box[0] != 0.998 || box[2] != 1.001 {
		t.Errorf("photos on both sides of the date line are in the box %v", box)
	}
	if x := module[float64](p, "photos", `(p => { p.add({id: ["a"], name: ["a"], at: [180, 0], time: [null], state: [0]}); return p.x[0] })(new m.Photos())`); x != 0 {
		t.Errorf("a photo at 180 degrees east is at %v", x)
	}
	// Every point is in exactly one cluster, and points of one cluster are near one another.
	fault := module[string](p, "cluster", `(() => {
		const n = 5000, x = Float64Array.from({length: n}, () => Math.random()), y = Float64Array.from({length: n}, () => 0.2 + Math.random() / 2);
		const sorted = m.sortPoints(x, y, n);
		for (const bits of [0, 1, 5, 13, 14, 20, 26]) {
			const c = m.cluster(sorted, x, y, bits), seen = new Set(), cells = new Set();
			for (let i = 0; i < c.n; i++) {
				const cell = (k) => Math.floor(x[k] * 2 ** bits) + " " + Math.floor(y[k] * 2 ** bits), first = cell(sorted.order[c.start[i]]);
				if (cells.has(first)) return "two clusters of one cell at " + bits;
				cells.add(first);
				for (let k = c.start[i]; k < c.start[i] + c.count[i]; k++) {
					if (cell(sorted.order[k]) !== first) return "a cluster of two cells at " + bits;
					seen.add(sorted.order[k]);
				}
			}
			if (seen.size !== n) return seen.size + " points at " + bits;
		}
		return "";
	})()`)
	if fault != "" {
		t.Error(fault)
	}
	if link := module[string](p, "address", `JSON.stringify([m.read("#12.5/50.1/-179.9/a%2Fb"), m.read("#x/1/2"), m.read(""), m.read("#1/2/3/%")])`); link !=
		`[{"zoom":12.5,"lat":50.1,"lon":-179.9,"selected":"a/b"},null,null,{"zoom":1,"lat":2,"lon":3,"selected":""}]` {
		t.Errorf("addresses: %s", link)
	}
}
