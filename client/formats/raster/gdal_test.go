package raster_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"transect/client/formats/raster"
)

// sharedRaster returns the path of a raster of the shared data, or skips the test.
func sharedRaster(t testing.TB, name string) string {
	t.Helper()
	if path := filepath.Join("../../../../shared/data/raster", name); exists(path) {
		return path
	}
	t.Skipf("the shared raster %s is not here", name)
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// gdal runs a GDAL program, or skips the test where it is not installed.
func gdal(t testing.TB, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed (Debian: gdal-bin)", name)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func open(t testing.TB, path string) *raster.Raster {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := raster.Open(f, info.Size())
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

// inColours writes a raster whose values are the colours in which r is drawn.
func inColours(t testing.TB, r *raster.Raster, path string, kind string) string {
	to := filepath.Join(t.TempDir(), "colours.vrt")
	switch kind {
	case "palette":
		gdal(t, "gdal_translate", "-q", "-of", "VRT", "-expand", "rgb", path, to)
	case "rgb":
		gdal(t, "gdal_translate", "-q", "-of", "VRT", "-b", "1", "-b", "2", "-b", "3", path, to)
	case "ramp":
		low, high, err := r.Stretch()
		if err != nil {
			t.Fatal(err)
		}
		var ramp strings.Builder
		for i, c := range raster.Ramp() {
			fmt.Fprintln(&ramp, low[0]+float64(i)/255*(high[0]-low[0]), c[0], c[1], c[2])
		}
		table := filepath.Join(t.TempDir(), "ramp.txt")
		if err := os.WriteFile(table, []byte(ramp.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		to = filepath.Join(t.TempDir(), "colours.tif")
		gdal(t, "gdaldem", "color-relief", "-q", "-alpha", path, table, to)
	}
	return to
}

// tileOf returns the tile drawn by GDAL.
func tileOf(t testing.TB, path string, z, x, y int, resampling string, scale float64) *image.NRGBA {
	dir := t.TempDir()
	side := 2 * 20037508.342789244 / math.Exp2(float64(z))
	left, top := -20037508.342789244+float64(x)*side, 20037508.342789244-float64(y)*side
	gdal(t, "gdalwarp", "-q", "-t_srs", "EPSG:3857", "-te", fmt.Sprint(left), fmt.Sprint(top-side), fmt.Sprint(left+side), fmt.Sprint(top),
		"-ts", "256", "256", "-r", resampling, "-dstalpha", "-et", "0", "-ovr", "NONE",
		"-wo", fmt.Sprint("XSCALE=", scale), "-wo", fmt.Sprint("YSCALE=", scale), path, dir+"/tile.tif")
	gdal(t, "gdal_translate", "-q", "-of", "PNG", dir+"/tile.tif", dir+"/tile.png")
	data, err := os.ReadFile(dir + "/tile.png")
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return decoded.(*image.NRGBA)
}

// compare returns the mean absolute difference of the colours of pixels that are
// not at an edge, and their number.
func compare(a, b *image.NRGBA) (mean float64, n int) {
	const edge = 3
	inside := func(m *image.NRGBA, x, y int) bool {
		for dy := -edge; dy <= edge; dy++ {
			for dx := -edge; dx <= edge; dx++ {
				if p := image.Pt(x+dx, y+dy); p.In(m.Rect) && m.Pix[m.PixOffset(p.X, p.Y)+3] != 255 {
					return false
				}
			}
		}
		return true
	}
	var sum float64
	for y := range 256 {
		for x := range 256 {
			if !inside(a, x, y) || !inside(b, x, y) {
				continue
			}
			for c := range 3 {
				sum += math.Abs(float64(a.Pix[a.PixOffset(x, y)+c]) - float64(b.Pix[b.PixOffset(x, y)+c]))
			}
			n++
		}
	}
	return sum / float64(3*max(n, 1)), n
}

// tileAt returns the tile containing the centre of a raster.
func tileAt(e raster.Extent, z int) (x, y int) {
	lon, lat := (e.Outline[0][0]+lowerRight(e)[0])/2, (e.Outline[0][1]+lowerRight(e)[1])/2
	n := math.Exp2(float64(z))
	return int((lon + 180) / 360 * n), int((1 - math.Asinh(math.Tan(lat*math.Pi/180))/math.Pi) / 2 * n)
}

func TestTilesAreThoseOfGDAL(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it runs GDAL many times")
	}
	for _, test := range []struct{ name, kind string }{
		{"landsat7-olinda-6band-utm25s.tif", "rgb"}, {"dem-olinda-utm25s.tif", "ramp"}, {"landcover-palette.tif", "palette"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "raster.tif") // without the overviews it may have
			gdal(t, "gdal_translate", "-q", sharedRaster(t, test.name), path)
			r, reduced := open(t, path), open(t, path)
			addOverviews(t, reduced)
			e := r.Extent()
			if e.Outline == nil {
				t.Fatal(e.Reason)
			}
			colours := inColours(t, r, path, test.kind)
			lat := (e.Outline[0][1] + lowerRight(e)[1]) / 2 * math.Pi / 180
			pixel := func(z int) float64 { return 40075016.7 * math.Cos(lat) / 256 / math.Exp2(float64(z)) } // metres
			native := int(math.Round(math.Log2(pixel(0) / e.GroundResolution)))
			for z := native - 2; z <= native+2; z += 2 {
				x, y := tileAt(e, z)
				scale, resampling := e.GroundResolution/pixel(z), "bilinear"
				if test.kind == "palette" && scale > 1 {
					resampling = "near"
				}
				want := tileOf(t, colours, z, x, y, resampling, scale)
				for name, r := range map[string]*raster.Raster{"the raster": r, "its overviews": reduced} {
					tile, err := r.Tile(z, x, y)
					if err != nil {
						t.Fatal(err)
					}
					mean, n := compare(tile, want)
					t.Logf("zoom %d of %s: mean absolute difference %.2f of 255 in %d pixels", z, name, mean, n)
					if mean > 3 || n < 30 {
						t.Errorf("zoom %d of %s: the mean absolute difference is %.2f of 255 in %d pixels", z, name, mean, n)
					}
				}
			}
		})
	}
}

// addOverviews generates the overviews of a raster and lets it use them.
func addOverviews(t testing.TB, r *raster.Raster) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "overviews"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := r.WriteOverviews(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.UseOverviews(f, info.Size()); err != nil {
		t.Fatal(err)
	}
}

// TestFilesOfGDAL: files written by GDAL show the same picture in every coding.
func TestFilesOfGDAL(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it runs GDAL many times")
	}
	dir := t.TempDir()
	source := sharedRaster(t, "landsat7-olinda-6band-utm25s.tif")
	picture := func(name string, args ...string) *image.RGBA {
		path := filepath.Join(dir, name+".tif")
		gdal(t, "gdal_translate", append(append([]string{"-q", "-b", "1", "-b", "2", "-b", "3"}, args...), source, path)...)
		return whole(t, open(t, path))
	}
	bytesOf, floatsOf := picture("plain"), picture("floats", "-ot", "Float32")
	for name, test := range map[string]struct {
		want  *image.RGBA
		limit float64 // of the mean absolute difference
		args  []string
	}{
		"LZW":           {bytesOf, 0, []string{"-co", "COMPRESS=LZW", "-co", "PREDICTOR=2"}},
		"PackBits":      {bytesOf, 0, []string{"-co", "COMPRESS=PACKBITS", "-co", "INTERLEAVE=BAND"}},
		"BigTIFF":       {bytesOf, 0, []string{"-co", "BIGTIFF=YES", "-co", "TILED=YES", "-co", "COMPRESS=DEFLATE", "-co", "ENDIANNESS=BIG"}},
		"JPEG":          {bytesOf, 5, []string{"-co", "COMPRESS=JPEG", "-co", "JPEG_QUALITY=95", "-co", "TILED=YES"}},
		"JPEG in YCbCr": {bytesOf, 5, []string{"-co", "COMPRESS=JPEG", "-co", "JPEG_QUALITY=95", "-co", "PHOTOMETRIC=YCBCR"}},
		"JPEG by bands": {bytesOf, 5, []string{"-co", "COMPRESS=JPEG", "-co", "JPEG_QUALITY=95", "-co", "INTERLEAVE=BAND"}},
		"cloud":         {bytesOf, 0, []string{"-of", "COG", "-co", "COMPRESS=LZW"}},
		"float LZW":     {floatsOf, 0, []string{"-ot", "Float32", "-co", "COMPRESS=LZW", "-co", "PREDICTOR=3"}},
		"float Deflate": {floatsOf, 0, []string{"-ot", "Float64", "-co", "COMPRESS=DEFLATE", "-co", "PREDICTOR=3", "-co", "TILED=YES"}},
	} {
		got := picture(name, test.args...)
		var sum float64
		for i := range got.Pix {
			sum += math.Abs(float64(test.want.Pix[i]) - float64(got.Pix[i]))
		}
		if mean := sum / float64(len(got.Pix)); mean > test.limit {
			t.Errorf("%s: the mean absolute difference is %.2f of 255", name, mean)
		}
	}
}
