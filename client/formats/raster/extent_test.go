package raster_test

import (
	"math"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"transect/client/formats/raster"
	"transect/testdata/tiffgen"
)

func lowerRight(e raster.Extent) orb.Point { return e.Outline[len(e.Outline)/2] }

func TestExtent(t *testing.T) {
	e := open(t, sharedRaster(t, "landsat7-olinda-6band-utm25s.tif")).Extent()
	if len(e.Outline) != 5 || e.Width != 349 || e.Height != 352 || e.System.Code != 31985 {
		t.Errorf("%+v", e)
	}
	// From gdalinfo, in degrees; half a pixel is 0.00013.
	for i, want := range []orb.Point{{-34.916167, -7.949822}, {-34.825967, -7.950228}, {-34.826369, -8.040928}, {-34.916589, -8.040517}} {
		if math.Abs(e.Outline[i][0]-want[0]) > 1e-5 || math.Abs(e.Outline[i][1]-want[1]) > 1e-5 {
			t.Errorf("corner %d is at %v, not %v", i, e.Outline[i], want)
		}
	}
	if math.Abs(e.GroundResolution-28.5) > 0.01 {
		t.Errorf("the resolution is %v", e.GroundResolution)
	}
}

func TestPositions(t *testing.T) {
	matrix := []float64{2, 1, 0, 500000, 1, -2, 0, 5000000, 0, 0, 0, 0, 0, 0, 0, 1}
	utm := tiffgen.Image{Width: 100, Height: 80, EPSG: 32631, X: 500000, Y: 5000000, Pixel: 2}
	with := func(fields ...tiffgen.Field) tiffgen.Image {
		m := utm
		m.Extra = fields
		return m
	}
	keys := func(values ...float64) tiffgen.Field { return tiffgen.Field{Tag: 34735, Kind: 3, Numbers: values} }
	number := func(tag uint16, values ...float64) tiffgen.Field {
		return tiffgen.Field{Tag: tag, Kind: 12, Numbers: values}
	}
	for name, test := range map[string]struct {
		image  tiffgen.Image
		corner [2]float64 // lower right, according to gdaltransform; or
		reason string
	}{
		"UTM":              {utm, [2]float64{3.0025443, 45.1520369}, ""},
		"degrees":          {tiffgen.Image{Width: 100, Height: 80, EPSG: 4326, Geographic: true, X: 170, Y: 60, Pixel: 0.25}, [2]float64{-165, 40}, ""},
		"degrees to 360":   {tiffgen.Image{Width: 100, Height: 80, EPSG: 4326, Geographic: true, X: 300, Y: 60, Pixel: 0.25}, [2]float64{-35, 40}, ""},
		"the whole Earth":  {tiffgen.Image{Width: 360, Height: 180, EPSG: 4326, Geographic: true, X: -180, Y: 90, Pixel: 1}, [2]float64{180, -90}, ""},
		"web Mercator":     {tiffgen.Image{Width: 100, Height: 80, EPSG: 3857, X: 0, Y: 0, Pixel: 1000}, [2]float64{0.8983153, -0.7186334}, ""},
		"turned":           {with(number(34264, matrix...), number(33922), number(33550)), [2]float64{3.0035621, 45.1529370}, ""},
		"centres":          {with(keys(1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 2, 3072, 0, 1, 32631)), [2]float64{3.0025316, 45.1520459}, ""},
		"no position":      {tiffgen.Image{Width: 9, Height: 9}, [2]float64{}, "has no position"},
		"no system":        {with(keys(1, 1, 0, 1, 1025, 0, 1, 1)), [2]float64{}, "names no reference system"},
		"unknown system":   {with(keys(1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 9999)), [2]float64{}, "EPSG:9999 is unknown"},
		"unknown datum":    {with(keys(1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 4490)), [2]float64{}, "no transformation from China Geodetic Coordinate System 2000 (EPSG:4490) to WGS 84 is known"},
		"another method":   {with(keys(1, 1, 0, 3, 1024, 0, 1, 1, 3072, 0, 1, 32767, 3075, 0, 1, 4)), [2]float64{}, "method 4 of GeoTIFF is not supported"},
		"control points":   {with(number(33922, 0, 0, 0, 5, 45, 0, 9, 9, 0, 6, 46, 0), number(33550)), [2]float64{}, "control points only"},
		"pixels of size 0": {with(number(33550, 0, 0, 0)), [2]float64{}, "pixels have no size"},
		"far away":         {with(number(33922, 0, 0, 0, 1e30, 1e30, 0)), [2]float64{}, "the position of the raster is invalid in WGS 84 / UTM zone 31N"},
		"not a number":     {with(number(33922, 0, 0, 0, math.NaN(), 5e6, 0)), [2]float64{}, "is invalid: its pixels have no size"},
		"infinite":         {with(number(33550, math.Inf(1), 1, 0)), [2]float64{}, "pixels have no size"},
		"beyond the pole":  {tiffgen.Image{Width: 10, Height: 80, EPSG: 4326, Geographic: true, X: 0, Y: 60, Pixel: 2}, [2]float64{}, "is invalid in WGS 84"},
	} {
		e := read(t, tiffgen.File(tiffgen.Options{}, test.image)).Extent()
		switch {
		case test.reason != "":
			if e.Outline != nil || e.Reason == nil || !strings.Contains(e.Reason.Error(), test.reason) {
				t.Errorf("%s: %v, want %q", name, e.Reason, test.reason)
			}
		case e.Outline == nil:
			t.Errorf("%s: %v", name, e.Reason)
		case math.Abs(lowerRight(e)[0]-test.corner[0]) > 1e-6 || math.Abs(lowerRight(e)[1]-test.corner[1]) > 1e-6:
			t.Errorf("%s: the lower right corner is at %.7f, not %v", name, lowerRight(e), test.corner)
		}
	}
}

// TestTilesAcrossTheDateLine draws such a raster at both ends of the map, and nowhere else.
func TestTilesAcrossTheDateLine(t *testing.T) {
	for name, m := range map[string]tiffgen.Image{
		"degrees": {Width: 200, Height: 100, Bands: 3, Photometric: 2, EPSG: 4326, Geographic: true, X: 179, Y: 1, Pixel: 0.01},
		"UTM":     {Width: 200, Height: 100, Bands: 3, Photometric: 2, EPSG: 32660, X: 700000, Y: 100000, Pixel: 1000},
	} {
		r := read(t, tiffgen.File(tiffgen.Options{}, m))
		drawn := map[int]bool{}
		for x := range 16 {
			for _, y := range []int{7, 8} {
				tile, err := r.Tile(4, x, y)
				if err != nil {
					t.Fatal(err)
				}
				for i := 3; i < len(tile.Pix); i += 4 {
					drawn[x] = drawn[x] || tile.Pix[i] > 0
				}
			}
		}
		if len(drawn) != 16 || !drawn[0] || !drawn[15] || drawn[1] || drawn[14] || drawn[8] {
			t.Errorf("%s: drawn in the columns %v", name, drawn)
		}
	}
}
