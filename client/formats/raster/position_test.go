package raster_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"transect/client/formats/crs"
	"transect/client/formats/raster"
	"transect/testdata/tiffgen"
)

// TestReplacedPosition: a position that overrides the file's own is kept with its overviews.
func TestReplacedPosition(t *testing.T) {
	data := tiffgen.File(tiffgen.Options{}, tiffgen.Image{Width: 600, Height: 400, EPSG: 32631, X: 500000, Y: 5500000, Pixel: 10})
	system, err := crs.EPSG(32632)
	if err != nil {
		t.Fatal(err)
	}
	read := func() *raster.Raster {
		r, err := raster.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	at := func(r *raster.Raster) float64 {
		e := r.Extent()
		if e.Outline == nil {
			t.Fatal(e.Reason)
		}
		return e.Outline[0][0]
	}
	r := read()
	r.ReplacePosition("", system.WKT())
	made, err := os.Create(filepath.Join(t.TempDir(), "overviews"))
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if err := r.WriteOverviews(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	info, err := made.Stat()
	if err != nil {
		t.Fatal(err)
	}
	other := read()
	if got := at(other); math.Abs(got-3) > 1e-6 {
		t.Errorf("the file is at %v", got)
	}
	if err := other.UseOverviews(made, info.Size()); err != nil {
		t.Fatal(err)
	}
	if got := at(other); math.Abs(got-9) > 1e-6 {
		t.Errorf("with its overviews it is at %v", got)
	}
	r.ReplacePosition("10\n0\n0\n-10\n600005\n5499995\n", "no system")
	if e := r.Extent(); e.Outline != nil || e.Reason == nil || e.GroundResolution != 0 {
		t.Errorf("%+v", e)
	}
}
