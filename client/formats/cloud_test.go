package formats

import (
	"image/color"
	"math"
	"testing"

	"transect/client/formats/pointcloud"
)

func TestSharedClouds(t *testing.T) {
	for name, covered := range map[string]float64{"autzen-1065.las": 0.6, "autzen-1065.laz": 0.6, "brighton-model.laz": 0.4} {
		m, err := show(t, name, sample(t, "pointcloud/"+name), 300)
		if err != nil {
			t.Fatal(err)
		}
		b, n := m.Bounds(), 0
		for y := range b.Dy() {
			for x := range b.Dx() {
				if m.At(x, y).(color.NRGBA).A > 0 {
					n++
				}
			}
		}
		if part := float64(n) / float64(b.Dx()*b.Dy()); max(b.Dx(), b.Dy()) != 300 || part < covered {
			t.Errorf("%s: %v, %.2f of it is covered", name, b, part)
		}
	}
}

// A plane that rises to the east, seen from above, with some points far away.
func TestCloudsAreColouredByHeight(t *testing.T) {
	m, err := drawPoints(func(limit int64, visit func(pointcloud.Point)) error {
		visit(pointcloud.Point{X: 1e7, Y: -1e7, Z: 1e5})
		for i := range 10_000 {
			x, y := float64(i%100), float64(i/100)/2
			visit(pointcloud.Point{X: 500_000 + x, Y: 5_000_000 + y, Z: x})
		}
		return nil
	}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if b := m.Bounds(); b.Dx() != 100 || b.Dy() < 48 || b.Dy() > 52 {
		t.Fatal(b)
	}
	west, east := m.At(3, 25).(color.NRGBA), m.At(96, 25).(color.NRGBA)
	if west.B < 60 || west.G > 60 || east.R < 150 || east.B > 80 {
		t.Error("west is not low or east not high:", west, east)
	}
	for _, z := range []float64{math.NaN(), -1, 0, 0.5, 1, 2, math.Inf(1)} {
		if ramp(z).A != 255 {
			t.Error(z)
		}
	}
}
