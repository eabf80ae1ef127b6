package crs

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
)

//go:generate go test -timeout 1h -run ^TestRegister$ -update

// The EPSG register, as far as it is needed: a row a line, with tabs between its columns.
//
//	U code name factor                    unit, in metres or radians
//	E code name axis inverse              ellipsoid
//	T code accuracy area helmert sea      transformation to WGS 84
//	D code name aliases ellipsoid prime meridian transformations
//	G code name datum unit                longitude and latitude
//	P code name geographic method unit axes parameters
//
// Rows in small letters are systems whose positions differ from those of GDAL, for want of
// a grid or of a transformation for the whole area.
//
//go:embed register.txt.gz
var packed []byte

type register struct {
	units      map[int]unit
	ellipsoids map[int]ellipsoid
	datums     map[int]*datum
	named      map[string]*datum // by names, letters only
	systems    map[int]string    // rows
	similar    map[string][]int  // projected systems, by datum and method
}

type unit struct {
	name   string
	factor float64
}

var loaded = sync.OnceValue(func() *register {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return load(string(text))
})

// row is a line of the register.
type row []string

// columns splits a row, whose last columns may be missing.
func columns(line string) row {
	return append(strings.Split(line, "\t"), make(row, 17)...)
}

func (r row) int(i int) int {
	n, _ := strconv.Atoi(r[i])
	return n
}

func (r row) number(i int) float64 {
	v, _ := strconv.ParseFloat(r[i], 64)
	return v
}

func load(text string) *register {
	r := &register{map[int]unit{}, map[int]ellipsoid{}, map[int]*datum{}, map[string]*datum{}, map[int]string{},
		map[string][]int{}}
	shifts := map[string]shift{}
	geographic := map[int]int{}
	var aliases []row
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		f := columns(line)
		switch f[0] {
		case "U":
			r.units[f.int(1)] = unit{f[2], f.number(3)}
		case "E":
			r.ellipsoids[f.int(1)] = ellipsoid{f[2], f.number(3), f.number(4)}
		case "T":
			s := shift{f.number(2), f.number(3), f.number(4), f.number(5), f.number(6), [7]float64{}, f[14] == "sea"}
			for i := range s.helmert {
				s.helmert[i] = f.number(7 + i)
			}
			shifts[f[1]] = s
		case "D":
			d := &datum{code: f.int(1), wkt: f[2], ellipsoid: r.ellipsoids[f.int(4)], prime: f[5], meridian: f.number(6)}
			for _, code := range strings.Fields(f[7]) {
				d.shifts = append(d.shifts, shifts[code])
			}
			r.datums[d.code] = d
			r.name(d, d.wkt)
			aliases = append(aliases, f)
		case "G", "g":
			r.systems[f.int(1)] = line
			d := r.datums[f.int(3)]
			geographic[f.int(1)] = d.code
			if d.system == 0 || d.unsure && f[0] == "G" {
				d.system, d.name, d.unsure = f.int(1), f[2], f[0] == "g"
			}
		case "P", "p":
			r.systems[f.int(1)] = line
			key := fmt.Sprint(geographic[f.int(3)], " ", f[4])
			r.similar[key] = append(r.similar[key], f.int(1))
		}
	}
	for _, f := range aliases { // a datum's own name takes precedence over aliases of others
		for name := range strings.SplitSeq(f[3], "|") {
			r.name(r.datums[f.int(1)], name)
		}
	}
	return r
}

// name registers a datum under a name, unless the name is taken.
func (r *register) name(d *datum, name string) {
	if _, taken := r.named[letters(name)]; !taken && name != "" {
		r.named[letters(name)] = d
	}
}

// EPSG returns the system with an EPSG code, or an error for an unknown one.
func EPSG(code int) (*System, error) {
	switch code {
	case 4326:
		return WGS84, nil
	case 900913, 3785, 102100, 102113:
		code = 3857
	}
	return loaded().system(code)
}

func (r *register) system(code int) (*System, error) {
	line, ok := r.systems[code]
	if !ok {
		return nil, fmt.Errorf("the reference system EPSG:%d is unknown: reproject it, for example with gdalwarp or "+
			"ogr2ogr -t_srs EPSG:4326", code)
	}
	f := columns(line)
	if f[0] == "g" || f[0] == "p" {
		return nil, fmt.Errorf("no transformation from %s (EPSG:%d) to WGS 84 is known: reproject it, for example with "+
			"gdalwarp or ogr2ogr -t_srs EPSG:4326", f[2], code)
	}
	if f[0] == "G" {
		return r.geographic(f), nil
	}
	base := columns(r.systems[f.int(3)])
	s, err := projected(code, f[2], r.geographic(base).datum, methodOf(f.int(4)), f.parameters())
	if err == nil {
		s.axes = f[6]
		s.UnitName, s.unit = r.units[f.int(5)].name, r.units[f.int(5)].factor
	}
	return s, err
}

// geographic builds the system from a row of longitude and latitude.
func (r *register) geographic(f row) *System {
	d := *r.datums[f.int(3)]
	d.system, d.name, d.unsure = f.int(1), f[2], false
	s := geographic(d.system, &d)
	if u := r.units[f.int(4)]; math.Abs(u.factor-degree) > 1e-12 {
		s.UnitName, s.unit = u.name, u.factor
	}
	return s
}

// parameters returns the parameters of a projected system.
func (r row) parameters() (p parameters) {
	p.scale = 1
	for i, to := range p.fields() {
		if r[7+i] != "" {
			*to = r.number(7 + i)
		}
	}
	return p
}

// registered returns the register's system that differs only by name, or s if there is none. The error is
// why it cannot be used.
func (s *System) registered() (*System, error) {
	r := loaded()
	for _, code := range r.similar[fmt.Sprint(s.datum.code, " ", s.method.code)] {
		f := columns(r.systems[code])
		u := r.units[f.int(5)]
		if !s.parameters.same(f.parameters()) || math.Abs(u.factor-s.unit) > 1e-9 || f[6] != s.axes {
			continue
		}
		known, err := r.system(code)
		if err != nil || math.Abs(known.datum.meridian-s.datum.meridian) < 1e-7 {
			return known, err
		}
	}
	if err := s.datum.usable(); err != nil {
		return nil, err
	}
	return s, nil
}
