package client

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// wantVertical are the twelve names and the parts of their texts, as the
// protocol lists them.
var wantVertical = map[string]string{
	"arbitrary":         `VERT_CS["Arbitrary",VERT_DATUM["Arbitrary",2000],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Up",UP]]`,
	"arbitrary_feet":    `VERT_CS["Arbitrary (feet)",VERT_DATUM["Arbitrary",2000],UNIT["foot",0.3048,AUTHORITY["EPSG","9002"]],AXIS["Up",UP]]`,
	"arbitrary_feet_us": `VERT_CS["Arbitrary (feet US)",VERT_DATUM["Arbitrary",2000],UNIT["US survey foot",0.3048006096,AUTHORITY["EPSG","9003"]],AXIS["Up",UP]]`,
	"wgs84":             `VERT_CS["WGS84 ellipsoid (meters)",VERT_DATUM["Ellipsoid",2002],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Up",UP]]`,
	"wgs84_feet":        `VERT_CS["WGS84 ellipsoid (feet)",VERT_DATUM["Ellipsoid",2002],UNIT["foot",0.3048,AUTHORITY["EPSG","9002"]],AXIS["Up",UP]]`,
	"wgs84_feet_us":     `VERT_CS["WGS84 ellipsoid (feet US)",VERT_DATUM["Ellipsoid",2002],UNIT["US survey foot",0.3048006096,AUTHORITY["EPSG","9003"]],AXIS["Up",UP]]`,
	"egm96":             `VERT_CS["EGM96 geoid (meters)",VERT_DATUM["EGM96 geoid",2005,EXTENSION["PROJ4_GRIDS","egm96_15.gtx"],AUTHORITY["EPSG","5171"]],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Up",UP]]`,
	"egm96_feet":        `VERT_CS["EGM96 geoid (feet)",VERT_DATUM["EGM96 geoid",2005,EXTENSION["PROJ4_GRIDS","egm96_15.gtx"],AUTHORITY["EPSG","5171"]],UNIT["foot",0.3048,AUTHORITY["EPSG","9002"]],AXIS["Up",UP]]`,
	"egm96_feet_us":     `VERT_CS["EGM96 geoid (feet US)",VERT_DATUM["EGM96 geoid",2005,EXTENSION["PROJ4_GRIDS","egm96_15.gtx"],AUTHORITY["EPSG","5171"]],UNIT["US survey foot",0.3048006096,AUTHORITY["EPSG","9003"]],AXIS["Up",UP]]`,
	"egm2008":           `VERT_CS["EGM2008 geoid (meters)",VERT_DATUM["EGM2008 geoid",2005,EXTENSION["PROJ4_GRIDS","egm08_25.gtx"],AUTHORITY["EPSG","1027"]],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Up",UP]]`,
	"egm2008_feet":      `VERT_CS["EGM2008 geoid (feet)",VERT_DATUM["EGM2008 geoid",2005,EXTENSION["PROJ4_GRIDS","egm08_25.gtx"],AUTHORITY["EPSG","1027"]],UNIT["foot",0.3048,AUTHORITY["EPSG","9002"]],AXIS["Up",UP]]`,
	"egm2008_feet_us":   `VERT_CS["EGM2008 geoid (feet US)",VERT_DATUM["EGM2008 geoid",2005,EXTENSION["PROJ4_GRIDS","egm08_25.gtx"],AUTHORITY["EPSG","1027"]],UNIT["US survey foot",0.3048006096,AUTHORITY["EPSG","9003"]],AXIS["Up",UP]]`,
}

func TestVerticalSystems(t *testing.T) {
	if len(wantVertical) != 12 {
		t.Fatalf("%d systems", len(wantVertical))
	}
	c, r := record(t, map[string]string{"POST /data-manager/create-datasets": `[{"_id":"a"},{"_id":"b"}]`})
	sentAs := func(call string, args object, key string) string {
		t.Helper()
		if _, err := invoke(t, c, call, args); err != nil {
			t.Fatal(err)
		}
		return gjson.Get(r.last(t).Body, key).String()
	}
	for name, want := range wantVertical {
		for _, spelled := range []string{name, strings.ToUpper(name)} {
			if got := sentAs("datasets.create_raster_dataset", object{"name": "n", "project": "p1", "vertical_srs_wkt": spelled}, "vertical_srs_wkt"); got != want {
				t.Errorf("%s:\n got %s\nwant %s", spelled, got, want)
			}
		}
		if got := sentAs("datasets.create_datasets", object{"datasets": list{object{}, object{"vertical_srs_wkt": name}}}, "datasets.1.vertical_srs_wkt"); got != want {
			t.Errorf("%s in a list:\n got %s\nwant %s", name, got, want)
		}
	}
	for _, text := range []string{"", "egm", "egm96_", "egm96_meters", " egm96", "egm96_feet_US ", "wgs84 (feet)", wantVertical["egm96"]} {
		if got := VerticalWKT(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
