package client

import (
	"fmt"
	"strings"
)

// Vertical reference systems known by name, and the parts their WKT is made
// of. Codes and grids are those of the EPSG registry and of the platform.
var verticalDatums = map[string]struct {
	title, datum string
	code         int
	grid         string
	epsg         int
}{
	"arbitrary": {title: "Arbitrary", datum: "Arbitrary", code: 2000},
	"egm96":     {title: "EGM96 geoid", datum: "EGM96 geoid", code: 2005, grid: "egm96_15.gtx", epsg: 5171},
	"egm2008":   {title: "EGM2008 geoid", datum: "EGM2008 geoid", code: 2005, grid: "egm08_25.gtx", epsg: 1027},
	"wgs84":     {title: "WGS84 ellipsoid", datum: "Ellipsoid", code: 2002},
}

var verticalUnits = map[string]struct {
	title, unit, factor string
	epsg                int
}{
	"":         {" (meters)", "metre", "1", 9001},
	"_feet":    {" (feet)", "foot", "0.3048", 9002},
	"_feet_us": {" (feet US)", "US survey foot", "0.3048006096", 9003},
}

// VerticalWKT gives the WKT of a vertical reference system known by name
// (arbitrary, egm96, egm2008 or wgs84, alone or with _feet or _feet_us, in any
// case); any other text comes back as it is.
func VerticalWKT(name string) string {
	lower := strings.ToLower(name)
	base, suffix := lower, ""
	if i := strings.Index(lower, "_"); i >= 0 {
		base, suffix = lower[:i], lower[i:]
	}
	datum, known := verticalDatums[base]
	unit, ok := verticalUnits[suffix]
	if !known || !ok {
		return name
	}
	title := datum.title + unit.title
	if base == "arbitrary" && suffix == "" {
		title = datum.title
	}
	authority := ""
	if datum.epsg != 0 {
		authority = fmt.Sprintf(`,EXTENSION["PROJ4_GRIDS","%s"],AUTHORITY["EPSG","%d"]`, datum.grid, datum.epsg)
	}
	return fmt.Sprintf(`VERT_CS["%s",VERT_DATUM["%s",%d%s],UNIT["%s",%s,AUTHORITY["EPSG","%d"]],AXIS["Up",UP]]`,
		title, datum.datum, datum.code, authority, unit.unit, unit.factor, unit.epsg)
}
