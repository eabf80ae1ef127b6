package vector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/project"

	"transect/client/formats/crs"
	"transect/client/formats/source"
)

// shared reads a file of the shared data, or skips the test.
func shared(t testing.TB, name string) File {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../../shared/data/vector", name))
	if err != nil {
		t.Skip("the shared data are not here: ", err)
	}
	return memory(filepath.Base(name), string(b))
}

func memory(name, text string) File {
	return File{Name: name, Data: strings.NewReader(text), Size: int64(len(text))}
}

// summary opens a file and counts its features and positions.
func summary(f File, beside ...File) (l *Layer, features, positions int, bound orb.Bound, err error) {
	ctx := context.Background()
	if l, err = Open(ctx, f, beside...); err != nil {
		return
	}
	err = l.Each(ctx, func(g orb.Geometry) error {
		if features++; g == nil {
			return nil
		}
		if n := countPositions(g); n > 0 {
			if positions == 0 {
				bound = g.Bound()
			}
			bound = bound.Union(g.Bound())
			positions += n
		}
		return nil
	})
	return
}

func countPositions(g orb.Geometry) (n int) {
	project.Geometry(orb.Clone(g), func(p orb.Point) orb.Point { n++; return p })
	return n
}

// TestSharedFiles compares with numbers from ogrinfo.
func TestSharedFiles(t *testing.T) {
	for _, c := range []struct {
		name, format, system string
		features, positions  int
		bound                orb.Bound
	}{
		{"world-countries-180.geojson", "geojson", "WGS 84 (EPSG:4326)", 180, 10_714, orb.Bound{Min: orb.Point{-180, -85.609038}, Max: orb.Point{180, 83.64513}}},
		{"cycle-hire-london-742-points.geojson", "geojson", "WGS 84 (EPSG:4326)", 742, 742, orb.Bound{Min: orb.Point{-0.236770, 51.454753}, Max: orb.Point{-0.002275, 51.542138}}},
		{"cities-shp.zip", "shapefile", "WGS 84 (EPSG:4326)", 243, 243, orb.Bound{Min: orb.Point{-175.220564, -41.292068}, Max: orb.Point{179.216647, 64.143459}}},
		{"world-shp/world.shp", "shapefile", "WGS 84 (EPSG:4326)", 177, 10_657, orb.Bound{Min: orb.Point{-180, -89.9}, Max: orb.Point{179.99999, 83.64513}}},
		{"nc-counties.gpkg", "geopackage", "NAD27 (EPSG:4267)", 100, 2_529, orb.Bound{Min: orb.Point{-84.323853, 33.881992}, Max: orb.Point{-75.456978, 36.589649}}},
	} {
		var beside []File
		if c.format == "shapefile" && !strings.HasSuffix(c.name, "zip") {
			beside = append(beside, shared(t, "world-shp/world.prj"))
		}
		l, features, positions, bound, err := summary(shared(t, c.name), beside...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		system := ""
		if l.System != nil {
			system = l.System.String()
		}
		if l.Format != c.format || system != c.system || (system == "") != (l.Problem != "") || features != c.features || positions != c.positions || !near(bound.Min, c.bound.Min) || !near(bound.Max, c.bound.Max) {
			t.Errorf("%s: %s %q %q %d features, %d positions, %v", c.name, l.Format, system, l.Problem, features, positions, bound)
		}
	}
}

func near(a, b orb.Point) bool { return math.Abs(a[0]-b[0]) < 2e-6 && math.Abs(a[1]-b[1]) < 2e-6 }

const triangle = `[[[0,0],[4,0],[0,3],[0,0]]]`

func TestSmallFiles(t *testing.T) {
	for _, c := range []struct {
		file                File
		system              string
		features, positions int
	}{
		{memory("a.json", `{"type":"Polygon","coordinates":`+triangle+`}`), "WGS 84", 1, 4},
		{memory("a.geojson", "\xef\xbb\xbf\n"+`{"type":"Feature","geometry":{"coordinates":[1,2,3],"type":"Point"}}`), "WGS 84", 1, 1},
		{memory("a.geojson", `{"type":"Feature","geometry":null}`), "WGS 84", 1, 0},
		{memory("a.geojson", `{"features":[{"geometry":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"LineString","coordinates":[[1,2],[3,4]]}]}}],"type":"FeatureCollection"}`), "WGS 84", 1, 3},
		{memory("a.geojson", `{"type":"Point","coordinates":[1,2]}`+"\n"+`{"type":"Point","coordinates":[1,2]}`), "WGS 84", 2, 2},
		{memory("a.geojson", `{"type":"FeatureCollection","features":[]}`), "WGS 84", 0, 0},
		{memory("a.geojson", `{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::25832"}},"features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[500000,5000000]}}]}`), "ETRS89 / UTM zone 32N", 1, 1},
		{memory("a.geojson", `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[500000,5000000]}}],"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::25832"}}}`), "ETRS89 / UTM zone 32N", 1, 1},
		{memory("a.geojson", `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"crs":"EPSG:25832"},"geometry":{"type":"Point","coordinates":[5,50]}}]}`), "WGS 84", 1, 1},
		{memory("a.kml", `<kml xmlns:gx="http://www.google.com/kml/ext/2.2"><Placemark><gx:Track><when>2010-05-28T02:02:09Z</when><when>2010-05-28T02:02:35Z</when>
			<gx:coord>-122.207881 37.371915 156</gx:coord><gx:coord>-122.205712 37.373288 152</gx:coord></gx:Track></Placemark>
			<Placemark><gx:MultiTrack><gx:Track><gx:coord>1 2 3</gx:coord><gx:coord>2 2 3</gx:coord></gx:Track><gx:Track><gx:coord>3 2</gx:coord></gx:Track></gx:MultiTrack></Placemark></kml>`), "WGS 84", 2, 5},
		{memory("a.kml", `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>
			<Placemark><name>a</name><Point><coordinates> 1,2,3 </coordinates></Point></Placemark>
			<Placemark><MultiGeometry><LineString><coordinates>1,2 3,4</coordinates></LineString>
			<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 4,0 0,3 0,0</coordinates></LinearRing></outerBoundaryIs>
			<innerBoundaryIs><LinearRing><coordinates>1,1 1,2 2,1 1,1</coordinates></LinearRing></innerBoundaryIs></Polygon></MultiGeometry></Placemark>
			<Placemark><name>nowhere</name></Placemark></Document></kml>`), "WGS 84", 3, 11},
		{memory("a.gpx", `<gpx><wpt lat="46" lon="7"/><trk><trkseg><trkpt lat="1" lon="2"><ele>3</ele></trkpt><trkpt lat="1" lon="3"/></trkseg></trk><rte><rtept lon="1" lat="1"/></rte></gpx>`), "WGS 84", 3, 4},
	} {
		l, features, positions, _, err := summary(c.file)
		if err != nil || l.System == nil || l.System.Name != c.system || features != c.features || positions != c.positions {
			t.Errorf("%s: %v, %v, %d features, %d positions", c.file.Name, l, err, features, positions)
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	countries, shp := shared(t, "world-countries-180.geojson"), shared(t, "world-shp/world.shp")
	cut := func(f File) File { return File{Name: f.Name, Data: f.Data, Size: f.Size / 2} }
	for _, c := range []struct {
		file File
		want string
	}{
		{memory("a.txt", "hello"), source.ErrOther.Error()},
		{memory("a.json", `{"a":1}`), source.ErrOther.Error()},
		{memory("a.json", `{"a":`), "it is cut short"},
		{memory("a.json", `{"a" 1}`), "not valid JSON"},
		{memory("a.json", `{"type":"Pont","coordinates":[1,2]}`), `"Pont" is not a type of GeoJSON`},
		{memory("a.json", `{"type":"Point","coordinates":["1",2]}`), "a geometry cannot be read"},
		{memory("a.json", `{"type":"FeatureCollection","features":[1]}`), "a feature is not an object"},
		{cut(countries), "it is cut short"},
		{cut(shp), "it is cut short"},
		{cut(shared(t, "nc-counties.gpkg")), "the database cannot be read"},
		{cut(shared(t, "cities-shp.zip")), "the archive cannot be read"},
		{memory("a.kml", `<kml><Placemark><Point><coordinates>x,y</coordinates></Point></Placemark></kml>`), `"x,y" is not a longitude and latitude`},
		{memory("a.kml", `<kml><Placemark>`), "it is cut short"},
		{memory("a.kml", strings.Repeat("<kml>", 300)), "it is nested too deeply"},
		{memory("a.gpx", `<gpx><wpt lat="1"/></gpx>`), "a wpt has no lon and lat"},
	} {
		_, features, _, _, err := summary(c.file)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d features, %v, want %s", c.file.Name, features, err, c.want)
		}
	}
	if _, err := Open(context.Background(), memory("a", "x")); !errors.Is(err, source.ErrOther) {
		t.Error(err)
	}
	if l, _, _, _, err := summary(shp); err != nil || !strings.Contains(l.Problem, "no projection file (.prj)") {
		t.Error(l, err)
	}
}

// TestValuesAreBounded: a value that is too long is refused before it has taken several times its memory.
func TestValuesAreBounded(t *testing.T) {
	long := strings.Repeat("1234567 ", 33<<20/8)
	for _, f := range []File{
		memory("a.geojson", `{"type":"Feature","geometry":null,"properties":{"a":"`+long+`"}}`),
		memory("a.geojson", `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"a":"`+long+`"}}]}`),
		memory("a.geojson", `{"other":"`+long+`"}`),
		memory("a.kml", "<kml><Placemark><name>"+long+"</name></Placemark></kml>"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _, _, err := summary(f)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "it has a value that is longer than 32 MiB") {
			t.Errorf("%s: %.200v", f.Name, err)
		}
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 256 {
			t.Errorf("%s: took %d MiB", f.Name, taken)
		}
	}
}

func TestHolesFollowTheirRing(t *testing.T) {
	g, err := readWKB(bytes.Join([][]byte{
		{1, 0xEB, 3, 0, 0, 2, 0, 0, 0}, // a polygon with heights, two rings
		{1, 0, 0, 0}, make([]byte, 24), {1, 0, 0, 0}, make([]byte, 24),
	}, nil))
	if p, ok := g.(orb.Polygon); err != nil || !ok || len(p) != 2 {
		t.Error(g, err)
	}
	for n := range 20 {
		if g, err := readWKB(make([]byte, n)); err == nil && g != nil {
			t.Error(n, g)
		}
	}
}

func TestPartOfAPolygonIsEmpty(t *testing.T) {
	b := make([]byte, 52+16*3)
	little.PutUint32(b, shapePolygon)
	little.PutUint32(b[36:], 2) // parts
	little.PutUint32(b[40:], 3) // positions
	little.PutUint32(b[48:], 3) // where the second part starts
	g, err := shapeOf(b)
	if p, ok := g.(orb.MultiPolygon); err != nil || !ok || len(p) != 1 || len(p[0]) != 1 {
		t.Error(g, err)
	}
}

func FuzzVector(f *testing.F) {
	for _, name := range []string{"cities-shp.zip", "nc-counties.gpkg"} {
		file := shared(f, name)
		b := make([]byte, min(file.Size, 30_000))
		file.Data.ReadAt(b, 0)
		f.Add("a", b)
	}
	shp := shared(f, "world-shp/world.shp")
	b := make([]byte, 3000)
	shp.Data.ReadAt(b, 0)
	f.Add("a.shp", b)
	f.Add("a.json", []byte(`{"type":"Polygon","coordinates":`+triangle+`}`))
	f.Add("1252", []byte(dbfWith(0x57, "Stra\xdfe", "text:C6")))
	f.Add("a.kml", []byte(`<kml><Placemark><Point><coordinates>1,2</coordinates></Point></Placemark></kml>`))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		l, _, _, _, err := summary(memory(name, string(b)))
		if err == nil {
			_ = l.Features(context.Background(), func(_ orb.Geometry, a json.RawMessage) error {
				if a != nil && !json.Valid(a) {
					t.Errorf("%q is no JSON", a)
				}
				return nil
			})
		}
		for table := openRows(context.Background(), memory("a.dbf", string(b)), name); ; {
			row := table.next()
			if row == nil {
				break
			}
			if !json.Valid(row) {
				t.Errorf("%q is no JSON", row)
			}
		}
	})
}

// TestProjectionInAnotherLetterCase prefers the projection in the shapefile's letter case.
func TestProjectionInAnotherLetterCase(t *testing.T) {
	shp := make([]byte, 128)
	big.PutUint32(shp, 9994)
	big.PutUint32(shp[24:], 64)
	little.PutUint32(shp[28:], 1000)
	own, other := memory("plots.prj", crs.WGS84.WKT()), memory("plots.PRJ", `PROJCS["WGS 84 / UTM zone 32N",AUTHORITY["EPSG","32632"]]`)
	for _, beside := range [][]File{{own, other}, {other, own}} {
		l, err := Open(context.Background(), memory("plots.shp", string(shp)), beside...)
		if err != nil || l.System == nil || l.System.Code != 4326 {
			t.Errorf("%+v, %v", l, err)
		}
	}
}
