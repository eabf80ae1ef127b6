package crs

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

const projDB = "/usr/share/proj/proj.db"

// made holds the data of PROJ's database as rows of the register.
type made struct {
	t     *testing.T
	db    *sql.DB
	rows  []string
	units map[int]struct {
		kind   string
		factor float64
	}
	datumOf map[int]int             // datums of longitudes and latitudes
	edges   map[int]map[int][]shift // transformations between datums
	rotated map[int]int             // datums that differ by their prime meridian
	areas   map[int][4]float64      // of systems: south, west, north, east
	shifts  map[shift]int           // rows written
}

// query calls visit for each row, with texts, "" for null.
func (m *made) query(visit func(row), text string, args ...any) {
	m.t.Helper()
	rows, err := m.db.Query(text, args...)
	if err != nil {
		m.t.Fatal(text, err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	for rows.Next() {
		values, to := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			m.t.Fatal(err)
		}
		r := make(row, len(values))
		for i, v := range values {
			r[i] = v.String
		}
		visit(r)
	}
	if err := rows.Err(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *made) add(columns ...any) {
	texts := make([]string, len(columns))
	for i, c := range columns {
		if f, ok := c.(float64); ok {
			c = short(f)
		}
		texts[i] = fmt.Sprint(c)
	}
	m.rows = append(m.rows, strings.TrimRight(strings.Join(texts, "\t"), "\t"))
}

// short writes a number without the digits that the conversion of units adds.
func short(v float64) string {
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// value converts to metres, degrees or a factor.
func (m *made) value(v, uom string) float64 {
	if v == "" {
		return 0
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		m.t.Fatal(err)
	}
	code, _ := strconv.Atoi(uom)
	if code == 9110 { // degrees, minutes and seconds as a decimal
		text := fmt.Sprintf("%.12f", math.Abs(f))
		whole, rest, _ := strings.Cut(text, ".")
		d, _ := strconv.ParseFloat(whole, 64)
		minutes, _ := strconv.ParseFloat(rest[:2], 64)
		seconds, _ := strconv.ParseFloat(rest[2:4]+"."+rest[4:], 64)
		return math.Copysign(d+minutes/60+seconds/3600, f)
	}
	u := m.units[code]
	if u.kind == "angle" {
		switch code {
		case 9102, 9122:
			return f
		case 9105:
			return f * 0.9
		}
		return f * u.factor / degree
	}
	if u.factor == 0 {
		return f
	}
	return f * u.factor
}

// makeRegister reads the database of PROJ.
func makeRegister(t *testing.T) *made {
	t.Helper()
	if _, err := os.Stat(projDB); err != nil {
		t.Skip("the database of PROJ is not installed (Debian: proj-data)")
	}
	if testing.Short() {
		t.Skip("left out by -short: it runs GDAL many times")
	}
	db, err := sql.Open("sqlite", "file:"+projDB+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	m := &made{t: t, db: db, units: map[int]struct {
		kind   string
		factor float64
	}{}, datumOf: map[int]int{}, edges: map[int]map[int][]shift{}, rotated: map[int]int{}, areas: map[int][4]float64{},
		shifts: map[shift]int{}}
	m.query(func(r row) {
		m.units[r.int(0)] = struct {
			kind   string
			factor float64
		}{r[2], r.number(3)}
		if r[2] == "length" || r[2] == "angle" && r[3] != "" {
			m.add("U", r[0], r[1], r[3])
		}
	}, `select code, name, type, conv_factor from unit_of_measure where auth_name='EPSG' order by code`)
	m.query(func(r row) {
		a, inverse := m.value(r[2], r[3]), r.number(4)
		if minor := m.value(r[5], r[3]); inverse == 0 && minor > 0 && minor < a {
			inverse = a / (a - minor)
		}
		m.add("E", r[0], r[1], a, inverse)
	}, `select code, name, semi_major_axis, uom_code, inv_flattening, semi_minor_axis from ellipsoid
		where auth_name='EPSG' order by code`)
	m.query(func(r row) { m.datumOf[r.int(0)] = r.int(1) },
		`select code, datum_code from geodetic_crs where auth_name='EPSG' and datum_auth_name='EPSG'`)
	m.readTransformations()
	m.writeDatums()
	m.writeSystems()
	return m
}

// area reads four numbers of an extent.
func area(r row) [4]float64 { return [4]float64{r.number(0), r.number(1), r.number(2), r.number(3)} }

func (m *made) readTransformations() {
	m.query(func(r row) {
		s := shift{accuracy: r.number(2)}
		if r[2] == "" {
			s.accuracy = 999
		}
		a := area(r[3:7])
		s.south, s.west, s.north, s.east = a[0], a[1], a[2], a[3]
		h := &s.helmert
		for i := range 3 {
			h[i] = m.value(r[7+i], r[10])
			h[3+i] = m.value(r[11+i], r[14]) * 3600
		}
		h[6] = m.value(r[15], r[16]) * 1e6
		s.offshore = strings.Contains(r[22], "- offshore")
		code := r.int(17)
		if slices.Contains([]int{9607, 1032, 1038, 9636, 1034, 1039, 1056, 1057, 1058}, code) { // coordinate frames
			h[3], h[4], h[5] = -h[3], -h[4], -h[5]
		}
		if r[18] != "" { // about a point: T + P - M P
			p := [3]float64{m.value(r[18], r[21]), m.value(r[19], r[21]), m.value(r[20], r[21])}
			rx, ry, rz, k := h[3]*degree/3600, h[4]*degree/3600, h[5]*degree/3600, 1+h[6]*1e-6
			h[0] += p[0] - k*(p[0]-rz*p[1]+ry*p[2])
			h[1] += p[1] - k*(rz*p[0]+p[1]-rx*p[2])
			h[2] += p[2] - k*(-ry*p[0]+rx*p[1]+p[2])
		}
		for i, v := range h {
			h[i] = math.Round(v*1e9)/1e9 + 0
		}
		m.edge(m.datumOf[r.int(0)], m.datumOf[r.int(1)], s)
		back := s
		for i := range back.helmert {
			back.helmert[i] = 0 - back.helmert[i]
		}
		m.edge(m.datumOf[r.int(1)], m.datumOf[r.int(0)], back)
	}, `select h.source_crs_code, h.target_crs_code, h.accuracy, e.south_lat, e.west_lon, e.north_lat, e.east_lon,
		tx, ty, tz, translation_uom_code, rx, ry, rz, rotation_uom_code, scale_difference, scale_difference_uom_code,
		h.method_code, px, py, pz, pivot_uom_code, e.description
		from helmert_transformation_table h
		join usage u on u.object_table_name='helmert_transformation' and u.object_auth_name=h.auth_name and u.object_code=h.code
		join extent e on e.auth_name=u.extent_auth_name and e.code=u.extent_code
		where h.auth_name in ('EPSG', 'PROJ') and h.source_crs_auth_name='EPSG' and h.target_crs_auth_name='EPSG'
		and h.deprecated=0 and not exists (select 1 from supersession s where s.superseded_table_name='helmert_transformation'
			and s.replacement_table_name=s.superseded_table_name and s.superseded_auth_name=h.auth_name
			and s.superseded_code=h.code and s.same_source_target_crs=1)
		order by h.auth_name, h.code`)
	m.query(func(r row) { m.rotated[m.datumOf[r.int(0)]] = m.datumOf[r.int(1)] },
		`select source_crs_code, target_crs_code from other_transformation where method_code=9601 and deprecated=0
			and auth_name='EPSG'`)
}

func (m *made) edge(from, to int, s shift) {
	if from == 0 || to == 0 || from == to {
		return
	}
	if m.edges[from] == nil {
		m.edges[from] = map[int][]shift{}
	}
	m.edges[from][to] = append(m.edges[from][to], s)
}

const wgs84Datum = 6326

// ways returns the transformations of a datum to WGS 84: direct ones, those of the datum
// with another meridian, or those over one datum between.
func (m *made) ways(d int) (list []shift) {
	if list = m.edges[d][wgs84Datum]; len(list) > 0 {
		return list
	}
	if other, ok := m.rotated[d]; ok {
		return m.ways(other)
	}
	var between []int
	for b := range m.edges[d] {
		between = append(between, b)
	}
	slices.Sort(between)
	for _, b := range between {
		for _, first := range m.edges[d][b] {
			for _, second := range m.edges[b][wgs84Datum] {
				s := shift{accuracy: first.accuracy + second.accuracy, south: max(first.south, second.south),
					north: min(first.north, second.north), west: max(first.west, second.west), east: min(first.east, second.east)}
				if first.east < first.west || first.west < -179.9 && first.east > 179.9 {
					s.west, s.east = second.west, second.east
				}
				if second.east < second.west || second.west < -179.9 && second.east > 179.9 {
					s.west, s.east = first.west, first.east
				}
				for i := range s.helmert {
					s.helmert[i] = math.Round((first.helmert[i]+second.helmert[i])*1e9) / 1e9
				}
				if s.south < s.north && (s.west < s.east || first.east < first.west || second.east < second.west) {
					list = append(list, s)
				}
			}
		}
	}
	return list
}

func (s shift) size() float64 {
	width := s.east - s.west
	if width < 0 {
		width += 360
	}
	return width * (math.Sin(s.north*degree) - math.Sin(s.south*degree))
}

func (m *made) writeDatums() {
	aliases := map[string][]string{}
	m.query(func(r row) {
		if !slices.Contains(aliases[r[0]], r[1]) {
			aliases[r[0]] = append(aliases[r[0]], r[1])
		}
	}, `select code, name from geodetic_datum where auth_name='EPSG'
		union all select code, alt_name from alias_name where auth_name='EPSG' and table_name='geodetic_datum'
		union all select datum_code, name from geodetic_crs where auth_name='EPSG' and deprecated=0 and type='geographic 2D'
		union all select g.datum_code, a.alt_name from geodetic_crs g join alias_name a on a.table_name='geodetic_crs'
			and a.auth_name='EPSG' and a.code=g.code where g.auth_name='EPSG' and g.type='geographic 2D' and a.source='ESRI'`)
	var datums []string
	m.query(func(r row) {
		code := r.int(0)
		list := slices.Clone(m.ways(code))
		if code == wgs84Datum {
			list = nil
		}
		slices.SortStableFunc(list, func(a, b shift) int { return cmp.Compare(b.size(), a.size()) })
		e := ellipsoid{"", m.value(r[2], r[3]), r.number(4)}
		if code == wgs84Datum || math.Abs(e.a-wgs84Ellipsoid.a) < 0.1 && slices.ContainsFunc(list, func(s shift) bool { return s.helmert == [7]float64{} }) {
			list = append(list, shift{accuracy: 9999, south: -90, west: -180, north: 90, east: 180})
		}
		var codes []string
		for _, s := range list {
			n, written := m.shifts[s]
			if !written {
				n = len(m.shifts) + 1
				m.shifts[s] = n
				h := s.helmert
				m.add("T", n, s.accuracy, s.south, s.west, s.north, s.east, h[0], h[1], h[2], h[3], h[4], h[5], h[6],
					map[bool]string{true: "sea"}[s.offshore])
			}
			codes = append(codes, fmt.Sprint(n))
		}
		name := strings.TrimSuffix(r[1], " ensemble")
		if code == wgs84Datum {
			name = "WGS_1984"
		}
		var names []string
		for _, alias := range aliases[r[0]] {
			for _, prefix := range []string{"D_", "GCS_"} {
				alias = strings.TrimPrefix(alias, prefix)
			}
			if letters(alias) != letters(name) && strings.Trim(alias, "0123456789") != "" && !slices.Contains(names, alias) {
				names = append(names, alias)
			}
		}
		words := strings.FieldsFunc(name, func(c rune) bool {
			return !(c == '+' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
		})
		datums = append(datums, strings.Join([]string{"D", r[0], strings.Join(words, "_"), strings.Join(names, "|"), r[5], r[6],
			short(m.value(r[7], r[8])), strings.Join(codes, " ")}, "\t"))
	}, `select d.code, d.name, e.semi_major_axis, e.uom_code, e.inv_flattening, e.code, p.name, p.longitude, p.uom_code
		from geodetic_datum d join ellipsoid e on e.auth_name='EPSG' and e.code=d.ellipsoid_code
		join prime_meridian p on p.auth_name='EPSG' and p.code=d.prime_meridian_code
		where d.auth_name='EPSG' and exists (select 1 from geodetic_crs g where g.auth_name='EPSG' and g.datum_code=d.code
			and g.type='geographic 2D')
		order by d.deprecated, p.longitude<>0, d.code`)
	m.rows = append(m.rows, datums...)
}

func (m *made) writeSystems() {
	for _, table := range []string{"geodetic_crs", "projected_crs"} {
		m.query(func(r row) { m.areas[r.int(4)] = area(r) },
			`select e.south_lat, e.west_lon, e.north_lat, e.east_lon, u.object_code from usage u
			join extent e on e.auth_name=u.extent_auth_name and e.code=u.extent_code
			where u.object_table_name=? and u.object_auth_name='EPSG' order by u.code desc`, table)
	}
	m.query(func(r row) { m.add("G", r[0], r[1], r[2], r[3]) },
		`select g.code, g.name, g.datum_code, a.uom_code from geodetic_crs g
		join axis a on a.coordinate_system_code=g.coordinate_system_code and a.coordinate_system_auth_name='EPSG'
			and a.coordinate_system_order=1
		where g.auth_name='EPSG' and g.type='geographic 2D' order by g.deprecated, g.code`)
	axes := map[string]string{}
	m.query(func(r row) {
		direction := strings.ToLower(r[1])
		if strings.Contains(direction, " along ") { // about a pole, where all of them are south
			direction = strings.ToLower(r[2])
		}
		axes[r[0]] += direction[:1]
	}, `select coordinate_system_code, orientation, name from axis where coordinate_system_auth_name='EPSG'
		order by coordinate_system_code, coordinate_system_order`)
	places := map[int]int{8801: 0, 8811: 0, 8821: 0, 8802: 1, 8812: 1, 8822: 1, 8833: 1, 8823: 2, 8832: 2, 8818: 2, 8824: 3,
		8813: 4, 1036: 4, 8814: 5, 8805: 6, 8815: 6, 8819: 6, 8806: 7, 8816: 7, 8826: 7, 8807: 8, 8817: 8, 8827: 8, 1039: 9, 1038: 9}
	m.query(func(r row) {
		method, kind := methodOf(r.int(3)), "P"
		p := parameters{scale: 1}
		for i := 6; i < len(r) && r[i] != ""; i += 3 {
			place, ok := places[r.int(i)]
			if !ok {
				method = nil
				break
			}
			*p.fields()[place] = m.value(r[i+1], r[i+2])
		}
		direction := axes[r[5]]
		if len(direction) > 2 {
			direction = direction[:2]
		}
		if direction == "ne" || direction == "en" {
			direction = ""
		}
		columns := []any{kind, r[0], r[1], r[2], r[3], r[4], direction}
		if method == nil {
			columns[0] = "p"
		} else {
			for i, v := range p.fields() {
				if text := short(*v); i == 6 && text == "1" || text == "0" {
					columns = append(columns, "")
				} else {
					columns = append(columns, text)
				}
			}
		}
		m.add(columns...)
	}, `select p.code, p.name, p.geodetic_crs_code, c.method_code, a.uom_code, p.coordinate_system_code,
		param1_code, param1_value, param1_uom_code, param2_code, param2_value, param2_uom_code,
		param3_code, param3_value, param3_uom_code, param4_code, param4_value, param4_uom_code,
		param5_code, param5_value, param5_uom_code, param6_code, param6_value, param6_uom_code,
		param7_code, param7_value, param7_uom_code
		from projected_crs p join conversion_table c on c.auth_name='EPSG' and c.code=p.conversion_code
		join axis a on a.coordinate_system_code=p.coordinate_system_code and a.coordinate_system_auth_name='EPSG'
			and a.coordinate_system_order=1
		where p.auth_name='EPSG' order by p.deprecated, p.code`)
}
