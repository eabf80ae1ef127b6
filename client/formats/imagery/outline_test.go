package imagery_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"transect/client/formats/imagery"
	"transect/client/geodesic"
)

// corner returns a point in metres east and north of 50 N 5 E.
func corner(east, north float64) [2]float64 {
	lat, lon, _ := geodesic.Direct(50, 5, 0, north)
	lat, lon, _ = geodesic.Direct(lat, lon, 90, east)
	return [2]float64{lon, lat}
}

func holds(ring [][2]float64, want [2]float64) bool {
	return slices.ContainsFunc(ring, func(p [2]float64) bool {
		return geodesic.Inverse(p[1], p[0], want[1], want[0]).Metres < 0.05
	})
}

// From 100 m with a lens of 43.2666 mm, half the diagonal of the picture is 50 m
// on the ground: 40 m to the right and 30 m ahead, tangents of 0.4 and 0.3.
func TestOutlineOfOnePhoto(t *testing.T) {
	for name, c := range map[string]struct {
		yaw, pitch, roll float64
		corners          [][2]float64
		pixel            float64
	}{
		"down, to the north": {0, -90, 0, [][2]float64{{40, 30}, {-40, 30}, {-40, -30}, {40, -30}}, 0.02},
		"down, to the east":  {90, -90, 0, [][2]float64{{30, 40}, {30, -40}, {-30, -40}, {-30, 40}}, 0.02},
		"upside down":        {0, -90, 180, [][2]float64{{40, 30}, {-40, 30}, {-40, -30}, {40, -30}}, 0.02},
		// At 45 degrees the upper edge is (1+0.3)/(1-0.3) heights ahead, and
		// 0.4*sqrt(2)/(1-0.3) to each side; the lower one likewise.
		"45 degrees ahead": {0, -45, 0, [][2]float64{{80.81, 185.71}, {-80.81, 185.71}, {-43.51, 53.85}, {43.51, 53.85}}, 0.02 * math.Sqrt2},
		// Looking down, roll turns the picture as yaw does.
		"rolled": {60, -90, 30, [][2]float64{{30, 40}, {30, -40}, {-30, -40}, {-30, 40}}, 0.02},
	} {
		p := looking(at(50, 5), 100, c.yaw, c.pitch)
		p.FocalLength35, p.Roll = 43.2666, &c.roll
		o := p.Outline()
		if len(o.Missing) > 0 || o.Cut || len(o.Ring) != 5 || math.Abs(o.Pixel-c.pixel) > 1e-6 || o.Height != 100 {
			t.Errorf("%s: %+v", name, o)
		}
		for _, want := range c.corners {
			if !holds(o.Ring, corner(want[0], want[1])) {
				t.Errorf("%s: no corner %v in %v", name, want, o.Ring)
			}
		}
	}
}

func TestWhatAPhotoDoesNotSay(t *testing.T) {
	p := looking(at(50, 5), 60, 10, -90)
	for name, c := range map[string]struct {
		change func(*imagery.Photo)
		want   []imagery.Fact
		area   float64
	}{
		"nothing missing": {func(*imagery.Photo) {}, nil, 69.2 * 51.9 * 1.5625},
		"position":        {func(p *imagery.Photo) { p.HasPosition = false }, []imagery.Fact{imagery.FactPosition}, 0},
		"height":          {func(p *imagery.Photo) { p.RelativeAltitude = nil }, []imagery.Fact{imagery.FactHeight}, 7654},
		"lens":            {func(p *imagery.Photo) { p.FocalLength35 = 0 }, []imagery.Fact{imagery.FactView}, 7654},
		"attitude":        {func(p *imagery.Photo) { p.Yaw, p.Pitch = nil, nil }, []imagery.Fact{imagery.FactYaw, imagery.FactPitch}, 54.08 * 54.08 * 3.0615},
		"lens told by the sensor": {func(p *imagery.Photo) {
			p.FocalLength35, p.FocalLength, p.SensorWidth = 0, 24*13.2/34.6133, 13.2
		}, nil, 69.2 * 51.9 * 1.5625},
	} {
		q := p
		c.change(&q)
		o := q.Outline()
		if !slices.Equal(o.Missing, c.want) || math.Abs(geodesic.Area(o.Ring)-c.area) > c.area/200 {
			t.Errorf("%s: %v, %.0f square metres, want %.0f", name, o.Missing, geodesic.Area(o.Ring), c.area)
		}
	}
}

func TestNoGroundWithoutEnd(t *testing.T) {
	o := looking(at(50, 5), 60, 0, 20).Outline() // into the sky
	if o.Ring != nil || !o.Cut || len(o.Missing) > 0 || o.Pixel != 0 {
		t.Errorf("%+v", o)
	}
	o = looking(at(50, 5), 60, 0, -20).Outline() // ground and horizon
	if !o.Cut || len(o.Ring) != 5 {
		t.Errorf("%+v", o)
	}
	rapid.Check(t, func(t *rapid.T) {
		angle := rapid.Float64Range(-180, 180)
		p := looking(at(rapid.Float64Range(-85, 85).Draw(t, "latitude"), angle.Draw(t, "longitude")),
			rapid.Float64Range(-10, 10000).Draw(t, "height"), angle.Draw(t, "yaw"), angle.Draw(t, "pitch"))
		roll := angle.Draw(t, "roll")
		p.Roll, p.FocalLength35 = &roll, rapid.Float64Range(4, 400).Draw(t, "lens")
		for _, point := range p.Outline().Ring {
			if far := geodesic.Inverse(p.Latitude, p.Longitude, point[1], point[0]).Metres; !(far < 5300) {
				t.Fatalf("%v is %.0f m away", point, far)
			}
		}
	})
}
