package preflight_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"transect/client/preflight"
	"transect/client/scan"
	"transect/testdata/flightgen"
)

var shared = filepath.Join("..", "..", "..", "shared", "data")

// check runs all checks on a folder.
func check(t testing.TB, dir string, opts preflight.Options) *preflight.Report {
	t.Helper()
	c := preflight.New(opts)
	for item, err := range scan.Items(context.Background(), scan.Source{Root: dir}) {
		c.Add(item, nil, err)
	}
	return c.Report(context.Background())
}

func TestFolderOfAFlight(t *testing.T) {
	dir := t.TempDir()
	if err := flightgen.Write(dir, 12, flightgen.Options{WithoutPosition: []int{3}}); err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	first := read("FLIGHT_0001.JPG")
	write("copy.JPG", first)
	write("cut.JPG", first[:len(first)-100])
	changed := append([]byte{}, first...)
	changed[len(changed)/2] ^= 1 // same size, same ends
	write("similar.JPG", changed)
	write("empty.JPG", nil)
	write("notes.txt", []byte("wind from the west"))
	r := check(t, dir, preflight.Options{Expected: 12})
	want := map[string]int{"empty": 1, "truncated": 1, "duplicate": 1, "no-position": 1, "image-count": 1}
	if diff := cmp.Diff(want, codes(r)); diff != "" {
		t.Errorf("%s\n%v", diff, r.Problems)
	}
	if r.Images != 15 || r.Files != 16 || r.ByKind["file"] != 1 || r.BySkipped["empty"] != 1 || r.Errors != 2 {
		t.Errorf("%+v", r)
	}
	for _, p := range r.Problems {
		if p.Code == "duplicate" && (p.Name != "FLIGHT_0001.JPG" || !strings.Contains(p.Message, "copy.JPG")) {
			t.Errorf("%v", p)
		}
	}
}

// TestRealFiles: the shared files pass as complete, and each of them truncated is reported.
func TestRealFiles(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skipf("no shared test data: %v", err)
	}
	if r := check(t, filepath.Join(shared, "images", "dji-brighton"), preflight.Options{Expected: 18}); len(r.Counts) != 0 {
		t.Errorf("the flight over Brighton: %v", r.Problems)
	}
	for _, folder := range []string{"vector", "raster", "pointcloud", "mesh"} {
		if r := check(t, filepath.Join(shared, folder), preflight.Options{}); len(r.Counts) != 0 {
			t.Errorf("%s: %v", folder, r.Problems)
		}
	}
	for _, name := range []string{
		"raster/landsat7-olinda-6band-utm25s.tif", "raster/dem-olinda-utm25s.tif", "pointcloud/autzen-1065.las",
		"pointcloud/autzen-1065.laz", "vector/nc-counties.gpkg", "vector/cities-shp.zip",
		"vector/world-countries-180.geojson", "vector/world-shp/world.shp",
		"images/sequoia-garfield/IMG_161122_163234_0000_GRE.TIF", "images/dji-brighton-original/DJI_0018.JPG", "images/varied/htc-desire.webp",
	} {
		whole, err := os.ReadFile(filepath.Join(shared, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []float64{0.5, 0.95} {
			dir := t.TempDir()
			cut := whole[:int(float64(len(whole))*part)]
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), cut, 0o644); err != nil {
				t.Fatal(err)
			}
			if r := check(t, dir, preflight.Options{}); r.Count("truncated") != 1 {
				t.Errorf("%s cut to %v: %v", name, part, r.Problems)
			}
		}
	}
}

func TestBandsOfARealCapture(t *testing.T) {
	dir := filepath.Join(shared, "images", "sequoia-garfield")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared test data: %v", err)
	}
	r := check(t, dir, preflight.Options{})
	if r.Count("missing-band") != 1 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Message, "red, rededge") {
		t.Errorf("%v", r.Problems)
	}
}

// TestCompleteCaptures: a band that is already uploaded, and so was not read, is not missing.
func TestCompleteCaptures(t *testing.T) {
	dir := filepath.Join(shared, "images", "sequoia-garfield")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared test data: %v", err)
	}
	c := preflight.New(preflight.Options{Expected: 3})
	for item, err := range scan.Items(context.Background(), scan.Source{Root: dir}) {
		if err == nil && strings.HasSuffix(item.Name, "GRE.TIF") {
			c.AddKnown(item)
			continue
		}
		c.Add(item, nil, err)
	}
	if r := c.Report(context.Background()); len(r.Problems) != 0 || r.Images != 3 || r.Files != 3 {
		t.Errorf("%+v", r)
	}
}

func TestIncompleteShapefile(t *testing.T) {
	dir := t.TempDir()
	head := make([]byte, 100)
	copy(head, "\x00\x00\x27\x0a")
	head[27], head[28], head[29] = 50, 0xe8, 0x03
	if err := os.WriteFile(filepath.Join(dir, "a.shp"), head, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.prj"), []byte("GEOGCS[]"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := check(t, dir, preflight.Options{})
	if diff := cmp.Diff(map[string]int{"incomplete": 1, "odd": 1}, codes(r)); diff != "" {
		t.Error(diff, r.Problems)
	}
}

func TestErrorsInPlaceOfItems(t *testing.T) {
	c := preflight.New(preflight.Options{})
	c.Add(scan.Item{}, nil, &scan.Skipped{Name: ".DS_Store", Reason: scan.SystemFile})
	c.Add(scan.Item{}, nil, &scan.Skipped{Name: "a", Reason: scan.Unreadable, Err: os.ErrPermission})
	c.Add(scan.Item{}, nil, errors.New("the disk is gone"))
	c.Add(scan.Item{}, nil, nil)
	r := c.Report(context.Background())
	if r.Errors != 2 || r.Warnings != 0 || r.BySkipped["system file"] != 1 {
		t.Errorf("%+v", r)
	}
}

func TestAddFromManyGoroutines(t *testing.T) {
	c := preflight.New(preflight.Options{})
	photos := flight(400)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := worker; i < len(photos); i += 4 {
				c.Add(item(photos[i].Path), &photos[i], nil)
			}
		})
	}
	_ = c.Report(context.Background()) // while photos are being added
	group.Wait()
	if r := c.Report(context.Background()); r.Images != 400 || len(r.Counts) != 0 {
		t.Errorf("%+v", r)
	}
}
