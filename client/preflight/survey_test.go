package preflight_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"transect/client/formats/imagery"
	"transect/client/geodesic"
	"transect/client/preflight"
	"transect/client/scan"
)

var noon = time.Date(2024, 5, 14, 12, 0, 0, 0, time.UTC)

// shot returns the i-th photo of a straight flight at 10 m/s, with a photo every 2 s.
func shot(i int) imagery.Photo {
	return imagery.Photo{
		HasPosition: true, Latitude: 50 + float64(i)*20/111_195, Longitude: 5, Width: 4000, Height: 3000,
		Acquired: noon.Add(time.Duration(i) * 2 * time.Second), Make: "DJI", Model: "FC6310", Format: imagery.JPEG,
	}
}

func flight(n int) []imagery.Photo {
	all := make([]imagery.Photo, n)
	for i := range all {
		all[i] = shot(i)
		all[i].Path = fmt.Sprintf("DJI_%04d.JPG", i)
	}
	return all
}

func item(name string) scan.Item {
	file := scan.File{Path: "/nowhere/" + name, Name: name, Size: 1000 + int64(len(name))}
	return scan.Item{Kind: "image", Format: "jpeg", Name: name, Members: []scan.Member{{File: file, Component: "image"}}}
}

// report checks photos whose paths are their names.
func report(opts preflight.Options, photos []imagery.Photo) *preflight.Report {
	if opts.Now.IsZero() {
		opts.Now = noon.Add(time.Hour)
	}
	opts.SkipDuplicates = true
	c := preflight.New(opts)
	for i := range photos {
		c.Add(item(photos[i].Path), &photos[i], nil)
	}
	return c.Report(context.Background())
}

func codes(r *preflight.Report) map[string]int {
	all := map[string]int{}
	for _, n := range r.Counts {
		all[n.Code] += n.Count
	}
	return all
}

func TestSurvey(t *testing.T) {
	change := func(n int, f func(p []imagery.Photo)) []imagery.Photo {
		all := flight(n)
		f(all)
		return all
	}
	bands := func(model string, n int, names ...string) (all []imagery.Photo) {
		for i := range n {
			for _, b := range names {
				p := shot(i)
				p.Make, p.Model, p.Band, p.CaptureID, p.Format = "", model, b, fmt.Sprint("capture ", i), imagery.TIFF
				p.Path = fmt.Sprintf("IMG_%04d_%s.TIF", i, b)
				all = append(all, p)
			}
		}
		return all
	}
	square := [][2]float64{{5, 50}, {5.01, 50}, {5.01, 50.01}, {5, 50.01}, {5, 50}}
	for name, c := range map[string]struct {
		opts   preflight.Options
		photos []imagery.Photo
		want   map[string]int
	}{
		"a good flight": {preflight.Options{Expected: 100, Mission: square, Date: noon}, flight(100), map[string]int{}},
		"one jump": {preflight.Options{}, change(100, func(p []imagery.Photo) { p[40].Latitude = 12 }),
			map[string]int{"position-jumps": 1}},
		"a jump of a kilometre, for three photos": {preflight.Options{}, change(100, func(p []imagery.Photo) {
			for i := 50; i < 53; i++ {
				p[i].Longitude += 0.02
			}
		}), map[string]int{"position-jumps": 3}},
		"the first and the last jump": {preflight.Options{}, change(100, func(p []imagery.Photo) { p[0].Latitude, p[99].Longitude = 51, 6 }),
			map[string]int{"position-jumps": 2}},
		"a second field": {preflight.Options{}, change(100, func(p []imagery.Photo) {
			for i := 50; i < 100; i++ {
				p[i].Longitude += 0.5
				p[i].Acquired = p[i].Acquired.Add(30 * time.Minute)
			}
		}), map[string]int{}},
		"two aircraft at once": {preflight.Options{}, change(100, func(p []imagery.Photo) {
			for i := 0; i < 100; i += 2 {
				p[i].Longitude += 0.5
			}
		}), map[string]int{"positions-jump-throughout": 1}},
		"a stray one without time": {preflight.Options{}, change(100, func(p []imagery.Photo) {
			for i := range p {
				p[i].Acquired = time.Time{}
			}
			p[7].Latitude = 0.1
		}), map[string]int{"position-jumps": 1, "no-date": 100}},
		"across the antimeridian": {preflight.Options{}, change(100, func(p []imagery.Photo) {
			for i := range p {
				p[i].Longitude = 179.999 + float64(i)*0.00002
				if p[i].Longitude > 180 {
					p[i].Longitude -= 360
				}
			}
		}), map[string]int{}},
		"no fix, and no position": {preflight.Options{}, change(10, func(p []imagery.Photo) {
			p[1].HasPosition, p[1].Void, p[1].Latitude, p[1].Longitude = false, true, 0, 0
			p[2].HasPosition = false
		}), map[string]int{"void-position": 1, "no-position": 1}},
		"records that disagree": {preflight.Options{}, change(10, func(p []imagery.Photo) {
			high := 130.0
			low := 95.0
			p[1].XMP = imagery.Claims{HasPosition: true, Latitude: p[1].Latitude + 0.001, Longitude: 5}
			p[2].Altitude, p[2].XMP.Altitude = &high, &low
			p[3].XMP.Acquired = p[3].Acquired.Add(40 * time.Hour)
			p[4].XMP.Acquired = p[4].Acquired.Add(7 * time.Minute)
		}), map[string]int{"position-disagrees": 1, "altitude-disagrees": 1, "date-disagrees": 2}},
		"records that agree": {preflight.Options{}, change(10, func(p []imagery.Photo) {
			high := 130.0
			nearly := 131.0
			p[1].XMP = imagery.Claims{HasPosition: true, Latitude: p[1].Latitude + 0.00001, Longitude: 5}
			p[2].Altitude, p[2].XMP.Altitude = &high, &nearly
			p[3].XMP.Acquired = p[3].Acquired.Add(2 * time.Hour) // in another zone
			p[4].XMP.Acquired, p[4].XMP.DateOnly = noon.Truncate(24*time.Hour), true
		}), map[string]int{}},
		"clocks": {preflight.Options{}, change(20, func(p []imagery.Photo) {
			p[1].Acquired = time.Date(1970, 1, 1, 0, 3, 0, 0, time.UTC)
			p[2].Acquired = time.Date(2000, 1, 1, 5, 0, 0, 0, time.UTC)
			p[3].Acquired = noon.AddDate(1, 0, 0)
			p[4].Acquired = noon.AddDate(0, -2, 0)
			p[5].Acquired = time.Time{}
		}), map[string]int{"clock-not-set": 2, "date-in-future": 1, "date-apart": 1, "no-date": 1}},
		"another day's flight": {preflight.Options{Date: noon.AddDate(0, 0, -9)}, flight(10), map[string]int{"date-not-mission": 1}},
		"another place": {preflight.Options{Mission: [][2]float64{{6, 50}, {6.01, 50}, {6.01, 50.01}, {6, 50.01}, {6, 50}}}, flight(10),
			map[string]int{"far-from-mission": 1}},
		"fewer than announced": {preflight.Options{Expected: 12}, flight(10), map[string]int{"image-count": 1}},
		"two cameras":          {preflight.Options{}, change(10, func(p []imagery.Photo) { p[9].Model = "FC300S" }), map[string]int{"mixed-cameras": 1}},
		"all bands":            {preflight.Options{}, bands("Sequoia", 5, "Green", "Red", "Red edge", "NIR"), map[string]int{}},
		"bands missing in one capture": {preflight.Options{},
			bands("RedEdge-M", 5, "Blue", "Green", "Red", "NIR", "Red edge")[:23], map[string]int{"missing-band": 1}},
		"a band missing in all captures of a known rig": {preflight.Options{}, bands("Sequoia", 3, "Green", "Red", "NIR"), map[string]int{"missing-band": 3}},
		"a band missing in one capture of an unknown rig": {preflight.Options{},
			bands("Rig", 4, "one", "two", "three")[1:], map[string]int{"missing-band": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := report(c.opts, c.photos)
			if diff := cmp.Diff(c.want, codes(r)); diff != "" {
				t.Errorf("%s\n%v", diff, r.Problems)
			}
			for _, p := range r.Problems {
				if p.Message == "" || p.Hint == "" {
					t.Errorf("%+v says too little", p)
				}
			}
		})
	}
}

func TestBandsByName(t *testing.T) {
	var photos []imagery.Photo
	for i := range 4 {
		for _, b := range []string{"G", "R", "RE", "NIR"} {
			p := shot(i)
			p.Format, p.Model = imagery.TIFF, "M3M"
			p.Path = fmt.Sprintf("DJI_2024_%04d_MS_%s.TIF", i, b)
			photos = append(photos, p)
		}
		p := shot(i)
		p.Model, p.Path = "M3M", fmt.Sprintf("DJI_2024_%04d_D.JPG", i)
		photos = append(photos, p)
	}
	if r := report(preflight.Options{}, photos); r.Errors != 0 {
		t.Fatal(r.Problems)
	}
	r := report(preflight.Options{}, append(photos[:2], photos[3:]...))
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Message, "rededge") || r.Problems[0].Name != "DJI_2024_0000_MS_G.TIF" {
		t.Error(r.Problems)
	}
}

func TestReportDoesNotDependOnOrder(t *testing.T) {
	photos := flight(300)
	photos[20].Latitude, photos[50].HasPosition, photos[70].Acquired = 10, false, time.Time{}
	want := report(preflight.Options{}, photos)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(photos), func(i, j int) { photos[i], photos[j] = photos[j], photos[i] })
	got := report(preflight.Options{}, photos)
	if got.Footprint == nil || math.Abs(got.Area/want.Area-1) > 1e-6 {
		t.Errorf("area %v, in another order %v", want.Area, got.Area)
	}
	got.Footprint, got.Area = want.Footprint, want.Area // rounded on another plane
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFootprintIsThatOfImagery(t *testing.T) {
	photos := flight(50)
	r := report(preflight.Options{}, photos)
	if want := geodesic.Area(imagery.Footprint(photos)); math.Abs(r.Area/want-1) > 1e-6 {
		t.Errorf("area %v, want %v", r.Area, want)
	}
	if !r.First.Equal(noon) || !r.Last.Equal(noon.Add(98*time.Second)) {
		t.Errorf("from %v to %v", r.First, r.Last)
	}
}

func TestListsAreBounded(t *testing.T) {
	photos := flight(3000)
	for i := range photos {
		photos[i].HasPosition = false
	}
	r := report(preflight.Options{}, photos)
	if len(r.Problems) != 20 || r.Count("no-position") != 3000 || r.Problems[0].Name != "DJI_0000.JPG" || r.Warnings != 3000 {
		t.Errorf("%d listed of %d, from %v", len(r.Problems), r.Count("no-position"), r.Problems[0])
	}
}

func TestRingOf(t *testing.T) {
	for text, want := range map[string]int{
		`{"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,0,9]]]}`:                                               4,
		`{"type": "GeometryCollection", "geometries": [{"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,0]]]}]}`: 5,
		`{"type": "MultiPoint", "coordinates": [[0,0],[3,1],[1,5]]}`:                                                      5,
		`{"type": "Point", "coordinates": [0,1]}`:                                                                         5,
		`{"type": "Polygon", "coordinates": 7}`:                                                                           0, `[`: 0, `{}`: 0, `{"type": "Polygon", "coordinates": [[[1]]]}`: 0,
	} {
		if ring := preflight.RingOf(text); len(ring) != want {
			t.Errorf("%s: %v", text, ring)
		}
	}
}
