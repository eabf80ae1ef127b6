package crs

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var identifiers = regexp.MustCompile(`,\s*(AUTHORITY|ID)\[[^\]]*\]`)

// TestReadWKT: a text gives the same system by its codes and by its parameters.
func TestReadWKT(t *testing.T) {
	for code, points := range codes {
		want, _ := EPSG(code)
		texts := map[string]string{"own": want.WKT()}
		for _, form := range []string{"wkt1", "wkt_esri", "wkt2_2019"} {
			if testing.Short() || !slices.Contains([]int{3857, 32725, 2154, 5070}, code) {
				continue // writing them is slow
			}
			texts[form] = gdal(t, "", "gdalsrsinfo", "-o", form, fmt.Sprintf("EPSG:%d", code))
		}
		for form, text := range texts {
			for _, text := range []string{text, identifiers.ReplaceAllString(text, "")} {
				got, err := FromWKT(text)
				if err != nil {
					t.Errorf("EPSG:%d as %s: %v\n%s", code, form, err, text)
					continue
				}
				for _, p := range points {
					x, y := got.FromWGS84(p[0], p[1])
					wantX, wantY := want.FromWGS84(p[0], p[1])
					if math.Abs(x-wantX) > 1e-3 || math.Abs(y-wantY) > 1e-3 {
						t.Errorf("EPSG:%d as %s: %v is at %.4f %.4f, not %.4f %.4f\n%s", code, form, p, x, y, wantX, wantY, text)
					}
				}
			}
		}
	}
}

const oregon = `PROJCS["NAD_1983_Oregon_Lambert",GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Lambert_Conformal_Conic"],PARAMETER["False_Easting",1312335.958],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-120.5],PARAMETER["Standard_Parallel_1",43.0],PARAMETER["Standard_Parallel_2",45.5],PARAMETER["Latitude_Of_Origin",41.75],UNIT["Foot",0.3048]]`

func TestFeet(t *testing.T) {
	s, err := FromWKT(oregon)
	if err != nil {
		t.Fatal(err)
	}
	// From gdaltransform for EPSG:2992.
	if lon, lat := s.ToWGS84(637000, 851000); math.Abs(lon+123.069831) > 1e-6 || math.Abs(lat-44.055649) > 1e-6 || s.Code != 2992 {
		t.Error(lon, lat, s.UnitName)
	}
	compound, err := FromWKT(`COMPD_CS["both",` + oregon + `,VERT_CS["height",VERT_DATUM["sea",2005],UNIT["m",1]]]`)
	if err != nil || compound.Name != s.Name {
		t.Error(compound, err)
	}
}

func TestUnusableWKT(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "not a well-known text",
		"EPSG:4326":                "not a well-known text",
		"GEOGCS[":                  "its end is missing",
		`GEOGCS["a`:                "its end is missing",
		strings.Repeat("A[", 1000): "too long",
		`LOCAL_CS["site"]`:         "no position on the earth",
		`VERT_CS["sea"]`:           "of the kind VERT_CS are not supported",
		`GEOGCS["a",DATUM["Site",SPHEROID["GRS 1980",6378137,298.257222101]]]`:  `the datum "Site" is unknown, and no transformation to WGS 84 is given`,
		`GEOGCS["a",DATUM["NAD27",SPHEROID["GRS 1980",6378137,298.257222101]]]`: `the datum "NAD27" is unknown, and no transformation to WGS 84 is given`,
		strings.Replace(oregon, "Lambert_Conformal_Conic", "Bonne", 1):          `"NAD_1983_Oregon_Lambert" cannot be used: the projection "Bonne" is not supported`,
		strings.Replace(oregon, "Central_Meridian", "Meridian", 1):              `the parameter "Meridian" of its projection is not supported`,
		strings.Replace(oregon, "0.3048", "0", 1):                               "the unit of the coordinates has no length",
		strings.Replace(oregon, `"Greenwich",0.0`, `"Paris",2.33`, 1):           "",
	} {
		s, err := FromWKT(text)
		if want == "" {
			continue // the datum is identified by its name
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, %v, want %s", text, s, err, want)
		}
	}
}

func FuzzWKT(f *testing.F) {
	f.Add(oregon)
	f.Add(WGS84.WKT())
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := FromWKT(text); err == nil {
			s.ToWGS84(s.FromWGS84(1, 2))
		}
	})
}

// greek returns the Greek grid on a datum defined only in the file, with more in its datum and
// after its axes.
func greek(datum, more string) string {
	return `PROJCS["Site",GEOGCS["Site",DATUM["Site",SPHEROID["GRS 1980",6378137,298.257222101]` + datum +
		`],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],` +
		`PARAMETER["central_meridian",24],PARAMETER["scale_factor",0.9996],PARAMETER["false_easting",500000],PARAMETER["false_northing",0],` +
		`UNIT["metre",1]` + more + `]`
}

const boundGreek = `BOUNDCRS[SOURCECRS[` + `PROJCRS["Site",BASEGEOGCRS["Site",DATUM["Site",ELLIPSOID["GRS 1980",6378137,298.257222101,LENGTHUNIT["metre",1]]],` +
	`PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]]],CONVERSION["Site",METHOD["Transverse Mercator",ID["EPSG",9807]],` +
	`PARAMETER["Latitude of natural origin",0,ANGLEUNIT["degree",0.0174532925199433]],PARAMETER["Longitude of natural origin",24,ANGLEUNIT["degree",0.0174532925199433]],` +
	`PARAMETER["Scale factor at natural origin",0.9996,SCALEUNIT["unity",1]],PARAMETER["False easting",500000,LENGTHUNIT["metre",1]],` +
	`PARAMETER["False northing",0,LENGTHUNIT["metre",1]]],CS[Cartesian,2],AXIS["easting",east,ORDER[1],LENGTHUNIT["metre",1]],AXIS["northing",north,ORDER[2],LENGTHUNIT["metre",1]]]],` +
	`TARGETCRS[GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]]]],` +
	`ABRIDGEDTRANSFORMATION["Site to WGS 84",METHOD["Geocentric translations (geog2D domain)",ID["EPSG",9603]],PARAMETER["X-axis translation",-199.87],` +
	`PARAMETER["Y-axis translation",74.79],PARAMETER["Z-axis translation",246.62]]]`

// TestStatedTransformation: a transformation stated by the file replaces a datum found by name;
// without one a datum is not WGS 84 just because its ellipsoid has that size.
func TestStatedTransformation(t *testing.T) {
	const proj = `,EXTENSION["PROJ4","+proj=tmerc +lat_0=0 +lon_0=24 +k=0.9996 +x_0=500000 +ellps=GRS80 +towgs84=-199.87,74.79,246.62,0,0,0,0 +units=m"]`
	keys := GeoKeys{Doubles: []float64{6378137, 298.257222101, -199.87, 74.79, 246.62, 24, 0.9996, 500000, -90.00000000000003}, Directory: []uint16{
		1, 1, 0, 10, 1024, 0, 1, 1, 2048, 0, 1, 32767, 2057, 34736, 1, 0, 2059, 34736, 1, 1, 2062, 34736, 3, 2,
		3072, 0, 1, 32767, 3075, 0, 1, 1, 3080, 34736, 1, 5, 3092, 34736, 1, 6, 3082, 34736, 1, 7}}
	byKeys, err := FromGeoKeys(keys)
	if err != nil {
		t.Fatal(err)
	}
	want, err := EPSG(2100)
	if err != nil {
		t.Fatal(err)
	}
	systems := map[string]*System{"keys": byKeys}
	for name, text := range map[string]string{
		"TOWGS84": greek(`,TOWGS84[-199.87,74.79,246.62,0,0,0,0]`, ""), "PROJ4": greek("", proj), "BOUNDCRS": boundGreek,
		"by its name": strings.Replace(greek("", ""), `DATUM["Site"`, `DATUM["D_GGRS_1987"`, 1),
	} {
		if systems[name], err = FromWKT(text); err != nil {
			t.Errorf("%s: %v", name, err)
			delete(systems, name)
		}
	}
	for name, s := range systems {
		x, y := want.FromWGS84(23.7, 37.98)
		if lon, lat := s.ToWGS84(x, y); metres([2]float64{lon, lat}, [2]float64{23.7, 37.98}) > 0.01 {
			t.Errorf("%s: %v %v", name, lon, lat)
		}
		if again, err := FromWKT(s.WKT()); err != nil || again.datum.shifts[0].helmert != s.datum.shifts[0].helmert {
			t.Errorf("%s: %v: %s", name, err, s.WKT())
		}
	}
	for text, want := range map[string]string{
		greek("", ""): `the datum "Site" is unknown, and no transformation to WGS 84 is given`,
		greek("", strings.Replace(proj, "+towgs84=-199.87,74.79,246.62,0,0,0,0", "+nadgrids=site.gsb", 1)): "its transformation to WGS 84 needs a grid file",
		strings.Replace(greek("", ""), "Site", "GGRS87", 3):                                                "",
	} {
		if _, err := FromWKT(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A sum of degrees and minutes may pass the pole by a rounding error.
func TestRoundedPole(t *testing.T) {
	want, err := EPSG(22185)
	if err != nil {
		t.Fatal(err)
	}
	x, y := want.FromWGS84(-60, -34.6)
	for _, text := range []string{want.WKT(), identifiers.ReplaceAllString(want.WKT(), "")} {
		s, err := FromWKT(strings.Replace(text, "-90]", "-90.00000000000003]", 1))
		if err != nil {
			t.Fatal(err)
		}
		if lon, lat := s.ToWGS84(x, y); metres([2]float64{lon, lat}, [2]float64{-60, -34.6}) > 0.01 || s.Code != 22185 {
			t.Errorf("%s at %v %v", s, lon, lat)
		}
	}
	s, err := FromGeoKeys(GeoKeys{Doubles: []float64{-90.00000000000003, -60, 1, 5500000}, Directory: []uint16{
		1, 1, 0, 7, 1024, 0, 1, 1, 2048, 0, 1, 4326, 3072, 0, 1, 32767, 3075, 0, 1, 1, 3081, 34736, 1, 0, 3080, 34736, 1, 1,
		3092, 34736, 1, 2, 3082, 34736, 1, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if lon, lat := s.ToWGS84(x, y); metres([2]float64{lon, lat}, [2]float64{-60, -34.6}) > 1 {
		t.Error(lon, lat)
	}
}
