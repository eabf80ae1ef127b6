package crs

import (
	"fmt"
	"strconv"
	"strings"
)

// WKT returns the system as well-known text (OGC 01-009, called WKT 1).
func (s *System) WKT() string {
	d := s.datum
	angle, code := `UNIT["degree",0.0174532925199433]`, d.system
	if s.Geographic {
		if code = s.Code; s.UnitName != "degree" {
			angle = fmt.Sprintf(`UNIT[%s,%s]`, quoted(s.UnitName), decimal(s.unit))
		}
	}
	more := authority(d.code)
	if d.system == 0 && len(d.shifts) == 1 {
		more = ",TOWGS84[" + strings.Trim(strings.ReplaceAll(fmt.Sprint(d.shifts[0].helmert), " ", ","), "[]") + "]"
	}
	geographic := fmt.Sprintf(`GEOGCS[%s,DATUM[%s,SPHEROID[%s,%s,%s]%s],PRIMEM[%s,%s],%s%s]`,
		quoted(d.name), quoted(d.wkt), quoted(d.ellipsoid.name), decimal(d.ellipsoid.a), decimal(d.ellipsoid.inverse), more,
		quoted(d.prime), decimal(d.meridian), angle, authority(code))
	if s.Geographic {
		return geographic
	}
	m := s.method
	if m.code == webMercator {
		m = methodOf(mercatorA)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `PROJCS[%s,%s,PROJECTION[%s]`, quoted(s.Name), geographic, quoted(m.wkt))
	parameter := func(name string, value float64) {
		if name != "" {
			fmt.Fprintf(&b, `,PARAMETER[%s,%s]`, quoted(name), decimal(value))
		}
	}
	p := s.parameters
	fields := p.fields()
	for i, name := range m.parameters {
		parameter(name, *fields[i])
	}
	parameter("false_easting", p.east/s.unit)
	parameter("false_northing", p.north/s.unit)
	fmt.Fprintf(&b, `,UNIT[%s,%s]`, quoted(s.UnitName), decimal(s.unit))
	for _, direction := range s.directions() {
		fmt.Fprintf(&b, `,AXIS[%s]`, map[rune]string{'e': `"Easting",EAST`, 'n': `"Northing",NORTH`, 'w': `"Westing",WEST`,
			's': `"Southing",SOUTH`}[direction])
	}
	if s.method.code == webMercator {
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
