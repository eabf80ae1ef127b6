package formats

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path"
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

func extent(t *testing.T, name string, b []byte, beside ...File) (Info, error) {
	t.Helper()
	return Describe(context.Background(), File{Name: name, Data: bytes.NewReader(b), Size: int64(len(b))}, beside...)
}

// Bounds are from ogrinfo and, for the point cloud, from its photos.
func TestSharedExtents(t *testing.T) {
	for _, c := range []struct {
		name, kind, format, system string
		features, points           int64
		bound                      orb.Bound
		resolution                 float64
	}{
		{"vector/world-countries-180.geojson", "vector", "geojson", "WGS 84", 180, 10_714, orb.Bound{Min: orb.Point{-180, -85.609038}, Max: orb.Point{180, 83.64513}}, 0},
		{"vector/cities-shp.zip", "vector", "shapefile", "WGS 84", 243, 243, orb.Bound{Min: orb.Point{-175.220564, -41.292068}, Max: orb.Point{179.216647, 64.143459}}, 0},
		{"vector/nc-counties.gpkg", "vector", "geopackage", "NAD27", 100, 2_529, orb.Bound{Min: orb.Point{-84.323766, 33.882123}, Max: orb.Point{-75.456620, 36.589729}}, 0},
		{"pointcloud/brighton-model.laz", "pcl", "laz", "WGS 84 / UTM zone 15N", 0, 940_393, orb.Bound{Min: orb.Point{-91.994862, 46.842275}, Max: orb.Point{-91.993457, 46.843164}}, 0.09},
		{"pointcloud/autzen-1065.las", "pcl", "las", "", 0, 1_065, orb.Bound{}, 0},
		{"images/dji-brighton/DJI_0018.JPG", "image", "jpeg", "WGS 84", 0, 0, orb.Point{-91.99456, 46.84229}.Bound(), 0},
	} {
		info, err := extent(t, path.Base(c.name), sample(t, c.name))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		system, bound := "", orb.Bound{}
		if info.System != nil {
			system, bound = info.System.Name, info.Outline.Bound()
		}
		near := func(a, b orb.Point) bool { return math.Hypot(a[0]-b[0], a[1]-b[1]) < 0.001 }
		if info.Kind != c.kind || info.Format != c.format || system != c.system || info.Features != c.features || info.Points != c.points ||
			!near(bound.Min, c.bound.Min) || !near(bound.Max, c.bound.Max) || math.Abs(info.Resolution-c.resolution) > 0.02 ||
			(info.Outline == nil) != (info.Reason != nil) {
			t.Errorf("%s: %+v, %v", c.name, info, bound)
		}
	}
}

func TestOutlines(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"Point","coordinates":[7.5,46]}`:                      "Point",
		`{"type":"LineString","coordinates":[[7,46],[8,47]]}`:          "LineString",
		`{"type":"Polygon","coordinates":[[[0,0],[4,0],[0,3],[0,0]]]}`: "Polygon",
		`{"type":"FeatureCollection","features":[]}`:                   "it has no shapes",
		`{"type":"Point","coordinates":[700000,5000000]}`:              "not on the earth in WGS 84",
		`{"type":"FeatureCollection","crs":{"properties":{"name":"EPSG:9999"}},"features":[{"geometry":{"type":"Point","coordinates":[7,5]}}]}`: "EPSG:9999 is unknown",
	} {
		info, err := extent(t, "a.geojson", []byte(text))
		switch {
		case err != nil:
			t.Error(err)
		case info.Outline != nil && info.Outline.GeoJSONType() != want, info.Outline == nil && !strings.Contains(info.Reason.Error(), want):
			t.Errorf("%s: %v %v", text, info.Outline, info.Reason)
		}
	}
	triangle, _ := extent(t, "a.geojson", []byte(`{"type":"Polygon","coordinates":[[[0,0],[4,0],[0,3],[0,0]]]}`))
	if ring := triangle.Outline.(orb.Polygon)[0]; len(ring) != 4 || ring.Orientation() != orb.CCW {
		t.Error(ring)
	}
	if _, err := extent(t, "a.mp4", []byte("no")); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if _, err := extent(t, "a.las", sample(t, "pointcloud/autzen-1065.las")[:3000]); err == nil || !strings.Contains(err.Error(), "a.las: it cannot be read: it is cut short: 81 of its 1065 points are there") {
		t.Error(err)
	}
}

func TestSharedShapesAreDrawn(t *testing.T) {
	for name, covered := range map[string]float64{"world-countries-180.geojson": 0.3, "cities-shp.zip": 0.01, "nc-counties.gpkg": 0.3} {
		m, err := show(t, name, sample(t, "vector/"+name), 200)
		if err != nil {
			t.Error(err)
			continue
		}
		n, b := 0, m.Bounds()
		for y := range b.Dy() {
			for x := range b.Dx() {
				if _, _, _, a := m.At(x, y).RGBA(); a > 0 {
					n++
				}
			}
		}
		if part := float64(n) / float64(b.Dx()*b.Dy()); max(b.Dx(), b.Dy()) != 200 || part < covered || part > 0.9 {
			t.Errorf("%s: %v, %.2f of it is drawn", name, b, part)
		}
	}
}

// A hole is left empty, whatever the directions of the rings.
func TestHoles(t *testing.T) {
	outer, inner := `[[0,0],[10,0],[10,10],[0,10],[0,0]]`, `[[3,3],[7,3],[7,7],[3,7],[3,3]]`
	for _, rings := range []string{outer + "," + inner, outer + `,[[3,3],[3,7],[7,7],[7,3],[3,3]]`, `[[0,0],[0,10],[10,10],[10,0],[0,0]],` + inner} {
		m, err := show(t, "a.geojson", []byte(`{"type":"Polygon","coordinates":[`+rings+`]}`), 100)
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, middle := m.At(50, 50).RGBA()
		_, _, _, between := m.At(15, 50).RGBA()
		if middle != 0 || between == 0 {
			t.Error(rings, middle, between)
		}
	}
}

func TestProjectionsBesideTheFile(t *testing.T) {
	prj := File{Name: "site.prj", Data: strings.NewReader(utm32), Size: int64(len(utm32))}
	xyz := "691000.0 5334000.0 500.0\n"
	offset := File{Name: "site_offset.xyz", Data: strings.NewReader(xyz), Size: int64(len(xyz))}
	site := []byte("v 0 0 0\nv 10 0 0\nv 10 10 5\nf 1 2 3\n")
	info, err := extent(t, "site.obj", site, prj, offset)
	if err != nil || info.Outline == nil {
		t.Fatal(info, err)
	}
	for _, text := range []string{"", "691000.0", "none"} { // without its offset, the mesh would lie elsewhere
		offset.Data, offset.Size = strings.NewReader(text), int64(len(text))
		if info, err := extent(t, "site.obj", site, prj, offset); err != nil || info.Outline != nil || info.Reason == nil ||
			!strings.Contains(info.Reason.Error(), "the offset in site_offset.xyz cannot be read") {
			t.Errorf("%q: %+v, %v", text, info, err)
		}
	}
	// From gdaltransform.
	if b := info.Outline.Bound(); math.Abs(b.Min[0]-11.567053) > 1e-4 || math.Abs(b.Min[1]-48.130567) > 1e-4 {
		t.Error(b)
	}
	info, err = extent(t, "a.las", sample(t, "pointcloud/autzen-1065.las"))
	if err != nil || info.Reason == nil || info.Reason.Error() != "it names no reference system" {
		t.Error(info.Reason, err)
	}
}

const utm32 = `PROJCS["ETRS89_UTM_zone_32N",GEOGCS["GCS_ETRS_1989",DATUM["D_ETRS_1989",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",9.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`

func TestSharedRasters(t *testing.T) {
	for name, want := range map[string]Info{
		"landsat7-olinda-6band-utm25s.tif": {Width: 349, Height: 352, Resolution: 28.5},
		"dem-olinda-utm25s.tif":            {Width: 111, Height: 111, Resolution: 89.6},
	} {
		b := sample(t, "raster/"+name)
		info, err := extent(t, name, b)
		if err != nil || info.Kind != "raster" || info.Width != want.Width || info.Height != want.Height || math.Abs(info.Resolution-want.Resolution) > 0.5 || info.Outline == nil {
			t.Errorf("%s: %+v %v", name, info, err)
		}
		m, err := show(t, name, b, 100)
		if err != nil || max(m.Bounds().Dx(), m.Bounds().Dy()) != 100 {
			t.Errorf("%s: %v %v", name, m.Bounds(), err)
		}
	}
}
