package formats

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

// Files that were located wrongly, or not at all. The right values are from gdaltransform and
// gdalinfo: a point, or the first corner of a raster.
func TestFieldPlaces(t *testing.T) {
	const folder = "../../../shared/field"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the shared field files are not here")
	}
	for _, c := range []struct {
		name   string
		system int
		at     orb.Point
		reason string
	}{
		{"crs/esri_2100.shp", 2100, orb.Point{23.7, 37.98}, ""},
		{"crs/esri_2039.shp", 2039, orb.Point{34.8, 31.5}, ""},
		{"crs/esri_22183.shp", 22183, orb.Point{-66, -34.6}, ""},
		{"crs/g2100.gpkg", 2100, orb.Point{23.7, 37.98}, ""},
		{"crs/greek_custom.tif", 0, orb.Point{23.7169666, 37.9949087}, ""},
		{"crs/arg_custom.tif", 0, orb.Point{-60, -34.6000054}, ""},
		{"codec_geo/crs_ny2263.tif", 2263, orb.Point{-73.9972945, 40.7156305}, ""},
		{"codec_geo/crs_laea3035.tif", 3035, orb.Point{10, 52}, ""},
		{"geojson/crs_last.geojson", 32632, orb.Point{9.00138541, 49.65344237}, ""},
		{"kml/gxtrack.kml", 4326, orb.Point{8.6, 47.4}, ""},
		{"prj2/plots.shp", 4326, orb.Point{-0.002275, 51.509474}, ""},
		{"zstd/c_zstd.tif", 0, orb.Point{-34.9161655, -7.9498221}, ""},
		{"zstd/c_lerc.tif", 0, orb.Point{-34.9161655, -7.9498221}, ""},
		{"zstd/w_jpgw.jpg", 31985, orb.Point{-34.9161655, -7.9498221}, ""},
		{"zstd/a_asc.asc", 0, orb.Point{}, `"UTM_Zone_25_Southern_Hemisphere" cannot be used: the datum "D_unknown" is unknown`},
		{"sidecars/auxonly.tif", 31985, orb.Point{-34.9161655, -7.9498221}, ""},
	} {
		main, all := openFile(t, filepath.Join(folder, filepath.FromSlash(c.name)))
		stem, _ := CutExtension(main.Name)
		var beside []File
		for _, f := range all {
			if hasPrefixFold(f.Name, stem+".") {
				beside = append(beside, f)
			}
		}
		info, err := Describe(context.Background(), main, beside...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.reason != "" {
			if info.Outline != nil || info.Width != 111 || info.Reason == nil || !strings.Contains(info.Reason.Error(), c.reason) {
				t.Errorf("%s: %+v", c.name, info)
			}
			continue
		}
		var p orb.Point
		switch g := info.Outline.(type) {
		case orb.Point:
			p = g
		case orb.LineString:
			p = g[0]
		case orb.Polygon:
			p = g[0][0]
		}
		if info.System == nil || info.System.Code != c.system || math.Hypot((p[0]-c.at[0])*math.Cos(p[1]*math.Pi/180), p[1]-c.at[1])*111320 > 2 {
			t.Errorf("%s: %v in %v, %v, want %v in EPSG:%d", c.name, info.Outline, info.System, info.Reason, c.at, c.system)
		}
	}
}
