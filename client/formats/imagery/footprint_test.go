package imagery_test

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"pgregory.net/rapid"

	"transect/client/formats/imagery"
	"transect/client/geodesic"
)

func at(latitude, longitude float64) imagery.Photo {
	return imagery.Photo{HasPosition: true, Latitude: latitude, Longitude: longitude, Width: 4000, Height: 3000}
}

func looking(p imagery.Photo, height, yaw, pitch float64) imagery.Photo {
	p.RelativeAltitude, p.Yaw, p.Pitch, p.FocalLength35 = &height, &yaw, &pitch, 24
	return p
}

func TestFootprintArea(t *testing.T) {
	// From 48 m a 24 mm lens sees 86.5 m corner to corner, so 69.2 m by 51.9 m.
	const nadir = 69.2 * 51.9
	circle := func(radius float64) float64 { return 16 * radius * radius * math.Sin(math.Pi/8) / 2 }
	for name, c := range map[string]struct {
		photos []imagery.Photo
		want   float64
	}{
		"one photo, nothing known":  {[]imagery.Photo{at(50, 5)}, circle(50)},
		"one photo, looking down":   {[]imagery.Photo{looking(at(50, 5), 48, 0, -90)}, nadir},
		"turned":                    {[]imagery.Photo{looking(at(50, 5), 48, 33, -90)}, nadir},
		"far south":                 {[]imagery.Photo{looking(at(-75, 5), 48, 33, -90)}, nadir},
		"oblique":                   {[]imagery.Photo{looking(at(50, 5), 48, 0, -30)}, circle(43.27)},
		"below the take-off":        {[]imagery.Photo{looking(at(50, 5), -3, 0, -30)}, circle(50)},
		"the same place twice":      {[]imagery.Photo{at(50, 5), at(50, 5)}, circle(50)},
		"a line of three":           {[]imagery.Photo{at(50, 5), at(50.001, 5), at(50.002, 5)}, circle(50) + 100*222.4},
		"across the antimeridian":   {[]imagery.Photo{looking(at(0, 179.9999), 48, 0, -90), looking(at(0, -179.9999), 48, 0, -90)}, nadir + 51.9*22.24},
		"one without position more": {[]imagery.Photo{at(50, 5), {Latitude: 1, Longitude: 1}}, circle(50)},
	} {
		ring := imagery.Footprint(c.photos)
		if got := geodesic.Area(ring); math.Abs(got-c.want) > c.want/100 {
			t.Errorf("%s: %.0f square metres, want %.0f: %v", name, got, c.want, ring)
		}
	}
	if ring := imagery.Footprint(nil); ring != nil || geodesic.Area(ring) != 0 {
		t.Errorf("footprint of nothing: %v", ring)
	}
}

func TestFootprintIsAValidRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		latitude := rapid.Float64Range(-85, 85).Draw(t, "latitude")
		longitude := rapid.Float64Range(-179, 179).Draw(t, "longitude")
		offset := rapid.Float64Range(-0.02, 0.02)
		var photos []imagery.Photo
		for range rapid.IntRange(1, 30).Draw(t, "photos") {
			p := at(latitude+offset.Draw(t, "north"), longitude+offset.Draw(t, "east"))
			if rapid.Bool().Draw(t, "angles known") {
				p = looking(p, rapid.Float64Range(-10, 500).Draw(t, "height"), rapid.Float64Range(-360, 360).Draw(t, "yaw"), -85)
			}
			photos = append(photos, p)
		}
		ring := imagery.Footprint(photos)
		if len(ring) < 4 || ring[0] != ring[len(ring)-1] {
			t.Fatalf("not closed: %v", ring)
		}
		points := make(orb.Ring, len(ring))
		for i := range ring {
			points[i] = ring[i]
		}
		if points.Orientation() != orb.CCW {
			t.Fatalf("not counter-clockwise: %v", ring)
		}
		for _, p := range photos {
			if !planar.RingContains(points, orb.Point{p.Longitude, p.Latitude}) {
				t.Fatalf("%v, %v lies outside %v", p.Latitude, p.Longitude, ring)
			}
		}
	})
}
