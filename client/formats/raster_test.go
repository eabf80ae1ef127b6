package formats

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

func gdalProgram(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed (Debian: gdal-bin)", name)
	}
	out, err := exec.Command(path, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return out
}

// openFile opens a file with all other files of its folder.
func openFile(t *testing.T, path string) (main File, beside []File) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		f, err := os.Open(filepath.Join(filepath.Dir(path), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		file := File{Name: e.Name(), Data: f, Size: info.Size()}
		if e.Name() == filepath.Base(path) {
			main = file
		} else {
			beside = append(beside, file)
		}
	}
	return main, beside
}

// TestHeadersAreEnough reads the size, the bands and the position of a raster from its header or
// accompanying files, whether its pixels can be drawn or not, and compares them with gdalinfo.
func TestHeadersAreEnough(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base.tif")
	gdalProgram(t, "gdal_create", "-of", "GTiff", "-outsize", "70", "40", "-bands", "3", "-ot", "Byte", "-burn", "10", "-burn", "90",
		"-burn", "200", "-a_srs", "EPSG:32632", "-a_ullr", "500000", "5500400", "500700", "5500000", base)
	for _, c := range []struct{ file, drawn, options string }{
		{"plain.tif", "yes", ""},
		{"zstd.tif", "ZSTD compression is not supported", "-co COMPRESS=ZSTD"},
		{"lerc.tif", "LERC compression is not supported", "-co COMPRESS=LERC -ot Float32"},
		{"lerczstd.tif", "LERC compression is not supported", "-co COMPRESS=LERC_ZSTD -ot Float32"},
		{"lzma.tif", "LZMA compression is not supported", "-co COMPRESS=LZMA"},
		{"webp.tif", "WebP compression is not supported", "-co COMPRESS=WEBP"},
		{"bits12.tif", "values of the raster are not supported: UInt12", "-ot UInt16 -co NBITS=12"},
		{"half.tif", "values of the raster are not supported: Float16", "-ot Float32 -co NBITS=16"},
		{"complex.tif", "values of the raster are not supported: CFloat64", "-ot CFloat32"},
		{"complexint.tif", "values of the raster are not supported: CInt32", "-ot CInt16"},
		{"one.tif", "yes", "-b 1 -ot Float64 -co TILED=YES -co COMPRESS=DEFLATE -co PREDICTOR=3"},
		{"planar.tif", "ZSTD compression is not supported", "-co COMPRESS=ZSTD -co INTERLEAVE=BAND -co BIGTIFF=YES"},
		{"lambert.tif", "yes", "-a_srs EPSG:31370 -a_ullr 150000 170000 150700 169600"},
		{"world.tif", "yes", "-co PROFILE=BASELINE -co TFW=YES"},
		{"picture.jpg", "map tiles of jpeg images are not drawn", "-of JPEG -co WORLDFILE=YES"},
		{"grey.jpg", "map tiles of jpeg images are not drawn", "-of JPEG -b 1 -co WORLDFILE=YES"},
		{"picture.png", "map tiles of png images are not drawn", "-of PNG -co WORLDFILE=YES"},
		{"grid.asc", "map tiles of ASCII grids are not drawn", "-of AAIGrid -b 1"},
		{"tiles.gpkg", "map tiles of GeoPackages are not drawn", "-of GPKG"},
		{"heights.gpkg", "map tiles of GeoPackages are not drawn", "-of GPKG -b 1 -ot Int16"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), c.file)
			args := append(strings.Fields("-q -of GTiff "+c.options), base, path)
			gdalProgram(t, "gdal_translate", args...)
			var want struct {
				Size        [2]int
				Bands       []any
				WGS84Extent struct{ Coordinates [][]orb.Point }
			}
			if err := json.Unmarshal(gdalProgram(t, "gdalinfo", "-json", path), &want); err != nil {
				t.Fatal(err)
			}
			main, beside := openFile(t, path)
			info, err := Describe(context.Background(), main, beside...)
			if err != nil || info.Kind != "raster" || info.Width != want.Size[0] || info.Height != want.Size[1] || info.Bands != len(want.Bands) {
				t.Fatalf("%+v, %v; want %v, %d bands", info, err, want.Size, len(want.Bands))
			}
			polygon, _ := info.Outline.(orb.Polygon)
			if len(polygon) != 1 || len(polygon[0]) != 5 {
				t.Fatalf("outline %v, %v", info.Outline, info.Reason)
			}
			for _, corner := range polygon[0] {
				nearest := math.Inf(1)
				for _, p := range want.WGS84Extent.Coordinates[0] {
					nearest = min(nearest, math.Hypot((p[0]-corner[0])*71500, (p[1]-corner[1])*111320))
				}
				if nearest > 2 {
					t.Errorf("the corner %v is %.1f m from those of gdalinfo", corner, nearest)
				}
			}
			r, _, err := OpenRaster(context.Background(), main, beside...)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(r.Undrawn()); c.drawn == "yes" && r.Undrawn() != nil || c.drawn != "yes" && !strings.Contains(got, c.drawn) {
				t.Errorf("%v, want %s", got, c.drawn)
			}
		})
	}
}

// TestPlaceBesideARaster reads a position that is only in GDAL's accompanying file.
func TestPlaceBesideARaster(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.tif")
	gdalProgram(t, "gdal_create", "-of", "GTiff", "-co", "PROFILE=BASELINE", "-outsize", "60", "60", "-bands", "1", "-a_srs", "EPSG:31985",
		"-a_ullr", "288776", "9120760", "298722", "9110728", path)
	main, beside := openFile(t, path)
	if len(beside) != 1 || beside[0].Name != "a.tif.aux.xml" {
		t.Fatal(beside)
	}
	content, err := Recognise(main)
	if err != nil {
		t.Fatal(err)
	}
	content.Georeference(main.Name, []string{beside[0].Name}, func(string) []byte {
		head, _ := beside[0].Head(4096)
		return head
	})
	if got := content.Component(main.Name, beside[0].Name); content.Kind != "raster" || got != "header" {
		t.Errorf("%s with its place in the component %q", content.Kind, got)
	}
	info, err := Describe(context.Background(), main, beside...)
	if err != nil || info.System == nil || info.System.Code != 31985 || info.Outline == nil ||
		math.Abs(info.Outline.Bound().Min[0]+34.9166) > 1e-3 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestNoPlaceWithoutASystem: a raster without a reference system has no position, and a reason.
func TestNoPlaceWithoutASystem(t *testing.T) {
	for name, args := range map[string][]string{
		"no reference system":                 {},
		"DHDN / 3-degree Gauss-Kruger zone 2": {"-a_srs", "EPSG:31466"},
	} {
		path := filepath.Join(t.TempDir(), "a.tif")
		gdalProgram(t, "gdal_create", append(append([]string{"-of", "GTiff", "-outsize", "6", "6", "-bands", "1"}, args...), "-a_ullr",
			"2540000", "5680600", "2540600", "5680000", path)...)
		main, beside := openFile(t, path)
		info, err := Describe(context.Background(), main, beside...)
		if err != nil || info.Outline != nil || info.Reason == nil || !strings.Contains(info.Reason.Error(), name) {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
}
