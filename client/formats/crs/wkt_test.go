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

// A text means the same system by its codes and by its parameters.
func TestReadWKT(t *testing.T) {
	for code, points := range codes {
		want, _ := EPSG(code)
		texts := map[string]string{"own": want.WKT()}
		for _, form := range []string{"wkt1", "wkt_esri", "wkt2_2019"} {
			if testing.Short() || !slices.Contains([]int{3857, 32725, 2154, 5070}, code) {
				continue // to write them takes long
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
	// By gdaltransform from EPSG:2992.
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
		`GEOGCS["a",DATUM["Site",SPHEROID["GRS 1980",6378137,298.257222101]]]`:  `the datum "Site" is not known here`,
		`GEOGCS["a",DATUM["NAD27",SPHEROID["GRS 1980",6378137,298.257222101]]]`: `the datum "NAD27" is not known here`,
		strings.Replace(oregon, "Lambert_Conformal_Conic", "Bonne", 1):          `"NAD_1983_Oregon_Lambert" cannot be used: the projection "Bonne" is not supported`,
		strings.Replace(oregon, "Central_Meridian", "Meridian", 1):              `the parameter "Meridian" of its projection is not supported`,
		strings.Replace(oregon, "0.3048", "0", 1):                               "the unit of the coordinates has no length",
		strings.Replace(oregon, `"Greenwich",0.0`, `"Paris",2.33`, 1):           "",
	} {
		s, err := FromWKT(text)
		if want == "" {
			continue // the datum is known by its name
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
