package crs

import (
	"fmt"
	"strconv"
	"strings"
)

// WKT is the system as well-known text (OGC 01-009, called WKT 1).
func (s *System) WKT() string {
	d := s.datum
	geographic := fmt.Sprintf(`GEOGCS[%s,DATUM[%s,SPHEROID[%s,%s,%s]],PRIMEM["Greenwich",0],`+
		`UNIT["degree",0.0174532925199433]%s]`,
		quoted(d.name), quoted(d.wkt), quoted(d.ellipsoid.name), decimal(d.ellipsoid.a), decimal(d.ellipsoid.inverse),
		authority(d.code))
	if s.Geographic {
		return geographic
	}
	var b strings.Builder
	kind := s.kind
	if kind == webMercator {
		kind = mercator
	}
	fmt.Fprintf(&b, `PROJCS[%s,%s,PROJECTION[%s]`, quoted(s.Name), geographic, quoted(string(kind)))
	parameter := func(name string, value float64) {
		fmt.Fprintf(&b, `,PARAMETER[%s,%s]`, quoted(name), decimal(value))
	}
	switch kind {
	case albers:
		parameter("latitude_of_center", s.lat0)
		parameter("longitude_of_center", s.lon0)
	case mercator:
		parameter("central_meridian", s.lon0)
	default:
		parameter("latitude_of_origin", s.lat0)
		parameter("central_meridian", s.lon0)
	}
	if kind == albers || kind == lambert2 {
		parameter("standard_parallel_1", s.lat1)
		parameter("standard_parallel_2", s.lat2)
	} else {
		parameter("scale_factor", s.scale)
	}
	parameter("false_easting", s.east/s.unit)
	parameter("false_northing", s.north/s.unit)
	fmt.Fprintf(&b, `,UNIT[%s,%s],AXIS["Easting",EAST],AXIS["Northing",NORTH]`, quoted(s.UnitName), decimal(s.unit))
	if s.kind == webMercator {
		b.WriteString(`,EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 ` +
			`+units=m +nadgrids=@null +wktext +no_defs"]`)
	}
	return b.String() + authority(s.Code) + "]"
}

func authority(code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprintf(`,AUTHORITY["EPSG","%d"]`, code)
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `'`) + `"` }

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
