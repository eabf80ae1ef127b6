package crs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FromWKT returns the system described by a well-known text: WKT 1 as written by GDAL or Esri (.prj
// files), or WKT 2. It ignores the vertical part of a compound system. The error is why the system
// cannot be used.
func FromWKT(text string) (*System, error) {
	r := &wktReader{text: text}
	n, err := r.node(0)
	if err != nil {
		return nil, err
	}
	return n.system(nil)
}

// system returns the system of an element, with a transformation to WGS 84 stated in an enclosing element.
func (n wktNode) system(stated *[7]float64) (*System, error) {
	switch n.keyword {
	case "COMPD_CS", "COMPOUNDCRS":
		if inner, ok := n.child("PROJCS", "PROJCRS", "PROJECTEDCRS", "GEOGCS", "GEOGCRS", "GEODCRS", "BOUNDCRS"); ok {
			return inner.system(stated)
		}
	case "BOUNDCRS":
		source, ok := n.child("SOURCECRS")
		if !ok || len(source.children) == 0 {
			break
		}
		stated, err := n.abridged()
		if err != nil {
			return nil, err
		}
		return source.children[0].system(stated)
	case "GEOGCS", "GEOGCRS", "GEODCRS", "GEODETICCRS", "GEOGRAPHICCRS":
		return n.geographic(stated)
	case "PROJCS", "PROJCRS", "PROJECTEDCRS":
		s, err := n.projected(stated)
		if err != nil {
			err = fmt.Errorf("the reference system %q cannot be used: %w", n.name(), err)
		}
		return s, err
	case "LOCAL_CS", "ENGCRS", "ENGINEERINGCRS":
		return nil, errors.New("a local system has no position on the earth")
	}
	return nil, fmt.Errorf("reference systems of the kind %s are not supported", n.keyword)
}

// abridged returns the transformation of a bound system to WGS 84.
func (n wktNode) abridged() (*[7]float64, error) {
	a, _ := n.child("ABRIDGEDTRANSFORMATION")
	method, _ := a.child("METHOD")
	side := 1.0
	switch name := letters(method.name()); {
	case strings.HasPrefix(name, "coordinateframe"):
		side = -1
	case !strings.HasPrefix(name, "positionvector") && !strings.HasPrefix(name, "geocentrictranslations"):
		return nil, fmt.Errorf("the transformation %q to WGS 84 is not supported", method.name())
	}
	var helmert [7]float64
	for _, p := range a.children {
		places := map[string]int{"xaxistranslation": 0, "yaxistranslation": 1, "zaxistranslation": 2, "xaxisrotation": 3,
			"yaxisrotation": 4, "zaxisrotation": 5, "scaledifference": 6}
		i, ok := places[letters(p.name())]
		if p.keyword != "PARAMETER" || !ok {
			continue
		}
		v := p.number(1, math.NaN())
		switch {
		case i >= 3 && i < 6:
			unit, _ := p.child("ANGLEUNIT")
			v *= side * unit.number(1, degree/3600) / (degree / 3600)
		case i == 6:
			if unit, _ := p.child("SCALEUNIT"); unit.number(1, 1) != 1 {
				v *= unit.number(1, 1) * 1e6
			} else {
				v = (v - 1) * 1e6
			}
		}
		helmert[i] = v
	}
	if !finite(helmert[:]...) {
		return nil, errors.New("the transformation to WGS 84 has no numbers")
	}
	return &helmert, nil
}

func (n wktNode) geographic(stated *[7]float64) (*System, error) {
	if stated == nil {
		if s, err := EPSG(n.code()); err == nil && s.Geographic {
			return s, nil
		}
	}
	if stated == nil {
		var err error
		if stated, err = n.extended(); err != nil {
			return nil, err
		}
	}
	d, err := n.datum(stated)
	if err == nil {
		err = d.usable()
	}
	if err != nil {
		return nil, err
	}
	s := geographic(d.system, d)
	s.Name = cmp.Or(d.name, n.name())
	unit, ok := n.child("UNIT", "ANGLEUNIT")
	if axis, has := n.child("AXIS"); !ok && has {
		unit, _ = axis.child("ANGLEUNIT", "UNIT")
	}
	if size := unit.number(1, degree); math.Abs(size-degree) > 1e-9 {
		s.unit, s.UnitName, s.Code = size, cmp.Or(strings.ToLower(unit.name()), "unit"), 0
	}
	return s, nil
}

// datum returns the datum by its code or its name, or the one described by the text with its
// transformation to WGS 84. It does not check that the datum is usable.
func (n wktNode) datum(stated *[7]float64) (*datum, error) {
	named, ok := n.child("DATUM", "ENSEMBLE", "GEODETICDATUM", "TRF")
	if !ok {
		return nil, errors.New("the reference system names no datum")
	}
	e, _ := named.child("SPHEROID", "ELLIPSOID")
	own := ellipsoid{e.name(), e.number(1, 0), e.number(2, 0)}
	if length, has := e.child("LENGTHUNIT", "UNIT"); has {
		own.a *= length.number(1, 1)
	}
	prime, hasPrime := n.child("PRIMEM", "PRIMEMERIDIAN")
	if named, inDatum := named.child("PRIMEM"); !hasPrime && inDatum {
		prime, hasPrime = named, true
	}
	meridian := prime.number(1, 0)
	if unit, has := prime.child("ANGLEUNIT", "UNIT"); has {
		meridian *= unit.number(1, degree) / degree
	}
	d := findDatum(named.code(), own, named.name())
	if t, has := named.child("TOWGS84"); has && stated == nil {
		stated = new([7]float64)
		for i := range stated {
			stated[i] = t.number(i, 0)
		}
	}
	switch {
	case stated != nil:
		if own.a <= 0 {
			return nil, errors.New("the reference system names no ellipsoid")
		}
		d = datum{name: n.name(), wkt: named.name(), ellipsoid: own, prime: cmp.Or(prime.name(), "Greenwich")}.stated(*stated)
	case d == nil:
		return nil, fmt.Errorf("the datum %q is unknown, and no transformation to WGS 84 is given",
			cmp.Or(named.name(), "without a name"))
	}
	if hasPrime && math.Abs(meridian-d.meridian) > 1e-7 {
		if stated == nil { // with the other meridian the datum's position may differ
			d = findDatum(0, own, named.name()+prime.name())
			if d == nil || math.Abs(meridian-d.meridian) > 1e-7 {
				return nil, fmt.Errorf("the datum %q with the prime meridian %q is unknown", named.name(), prime.name())
			}
			return d, nil
		}
		d.prime, d.meridian = prime.name(), meridian
	}
	return d, nil
}

// findDatum returns the register's datum with a code or a name, if it has the given ellipsoid.
func findDatum(code int, e ellipsoid, name string) *datum {
	r := loaded()
	d := r.datums[code]
	if d == nil {
		d = r.named[letters(strings.TrimPrefix(name, "D_"))]
	}
	if d == nil || e.a != 0 && !d.ellipsoid.same(e) {
		return nil
	}
	return d
}

// places maps names of projection parameters in the dialects of WKT, letters only, to their index in the fields.
var places = func() map[string]int {
	m := map[string]int{}
	for i, names := range []string{
		"latitudeoforigin latitudeofnaturalorigin latitudeoffalseorigin latitudeofcenter latitudeofprojectioncentre",
		"centralmeridian longitudeofnaturalorigin longitudeoffalseorigin longitudeofcenter longitudeofprojectioncentre " +
			"longitudeoforigin",
		"standardparallel1 latitudeof1ststandardparallel latitudeofstandardparallel latitudeofpseudostandardparallel " +
			"pseudostandardparallel1",
		"standardparallel2 latitudeof2ndstandardparallel",
		"azimuth azimuthatprojectioncentre azimuthofinitialline colatitudeofconeaxis",
		"rectifiedgridangle anglefromrectifiedtoskewgrid xyplanerotation",
		"scalefactor scalefactoratnaturalorigin scalefactoratprojectioncentre scalefactoronpseudostandardparallel " +
			"scalefactoroninitialline",
		"falseeasting eastingatfalseorigin eastingatprojectioncentre",
		"falsenorthing northingatfalseorigin northingatprojectioncentre",
		"height projectionplaneoriginheight ellipsoidscalingfactor",
	} {
		for _, name := range strings.Fields(names) {
			m[name] = i
		}
	}
	return m
}()

func (n wktNode) projected(stated *[7]float64) (*System, error) {
	base, ok := n.child("GEOGCS", "BASEGEOGCRS", "BASEGEODCRS", "GEOGCRS")
	if !ok {
		return nil, errors.New("it has no base reference system")
	}
	if stated == nil {
		var err error
		if stated, err = n.extended(); err != nil {
			return nil, err
		}
	}
	d, err := base.datum(stated)
	if s, known := EPSG(n.code()); known == nil && (err != nil || d.code != 0) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	conversion := n
	if c, ok := n.child("CONVERSION"); ok {
		conversion = c
	}
	named, _ := conversion.child("PROJECTION", "METHOD")
	m := methodNamed(named.name())
	if m == nil {
		return nil, fmt.Errorf("the projection %q is not supported", named.name())
	}
	extension, _ := n.child("EXTENSION")
	if proj := strings.Join(extension.values, " "); m.code == mercatorA && strings.Contains(proj,
		"+a=6378137 +b=6378137") {
		m = methodOf(webMercator) // WKT 1 has no name for it
	}
	unit, hasUnit := n.child("UNIT", "LENGTHUNIT")
	if axis, has := n.child("AXIS"); !hasUnit && has {
		unit, hasUnit = axis.child("LENGTHUNIT", "UNIT")
	}
	length := unit.number(1, 1)
	if length <= 0 {
		return nil, errors.New("the unit of the coordinates has no length")
	}
	p, err := conversion.parameters(base, length, m)
	if err != nil {
		return nil, err
	}
	m, p = m.variant(p)
	s, err := projected(0, cmp.Or(n.name(), m.label()), d, m, p)
	if err != nil {
		return nil, err
	}
	if s.axes = n.axes(m.axes); m.wkt == "Krovak" { // the axes distinguish the two methods of this name
		if s.axes = n.axes(""); s.axes == "" {
			s.method = methodOf(1041)
		}
	}
	if hasUnit && length != 1 {
		s.unit, s.UnitName = length, cmp.Or(strings.ReplaceAll(unit.name(), "_", " "), "unit")
	}
	if d.code == 0 {
		return s, nil
	}
	return s.registered()
}

// extended returns the transformation in the PROJ parameters written by GDAL, nil without one.
func (n wktNode) extended() (*[7]float64, error) {
	extension, _ := n.child("EXTENSION")
	proj := strings.Join(extension.values, " ")
	if strings.Contains(proj, "+nadgrids=") && !strings.Contains(proj, "+nadgrids=@null") {
		return nil, errors.New("its transformation to WGS 84 needs a grid file")
	}
	_, rest, ok := strings.Cut(proj, "+towgs84=")
	if !ok {
		return nil, nil
	}
	text, _, _ := strings.Cut(rest, " ")
	var helmert [7]float64
	for i, number := range strings.Split(text, ",")[:min(7, strings.Count(text, ",")+1)] {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !finite(v) {
			return nil, fmt.Errorf("the transformation +towgs84=%s has no numbers", text)
		}
		helmert[i] = v
	}
	return &helmert, nil
}

// axes returns the directions of the coordinates. Like GDAL it swaps northing before easting.
func (n wktNode) axes(otherwise string) string {
	axes := ""
	for _, c := range n.children {
		if c.keyword == "AXIS" && len(c.values) > 1 {
			direction := strings.ToLower(c.values[1])
			if i := strings.Index("north south east west", direction); i < 0 || direction == "" {
				return otherwise
			}
			axes += direction[:1]
		}
	}
	switch axes {
	case "ne", "en":
		return ""
	case "ws", "sw", "wn", "nw", "se", "es":
		return axes
	}
	return otherwise
}

// parameters reads a projection's parameters, with the units of its base and its coordinates.
func (n wktNode) parameters(base wktNode, length float64, m *method) (parameters, error) {
	angle := degree
	if a, ok := base.child("UNIT", "ANGLEUNIT"); ok {
		angle = a.number(1, degree)
	}
	p := parameters{scale: 1}
	for _, c := range n.children {
		if c.keyword != "PARAMETER" {
			continue
		}
		name, value := letters(c.name()), c.number(1, math.NaN())
		i, ok := places[name]
		if !ok {
			if name == "xscale" && value == -1 || name == "yscale" && value == 1 || name == "auxiliaryspheretype" && value == 0 {
				continue // in Krovak and web Mercator
			}
			return p, fmt.Errorf("the parameter %q of its projection is not supported", c.name())
		}
		own, has := c.child("LENGTHUNIT", "ANGLEUNIT", "SCALEUNIT", "UNIT")
		switch size := own.number(1, 1); {
		case i == 6 || i == 9:
		case i > 6:
			if !has {
				size = length
			}
			value *= size
		default:
			if !has {
				size = angle
			}
			value *= size / degree
		}
		*p.fields()[i] = value
	}
	return p, nil
}

// variant distinguishes methods sharing a name in a dialect by their parameters.
func (m *method) variant(p parameters) (*method, parameters) {
	switch {
	case m.code == lambert2 && p.lat2 == 0 && (p.lat1 == p.lat0 || p.lat1 == 0):
		p.lat1 = 0
		return methodOf(lambert1), p
	case m.code == lambert2 && p.lat2 == 0 && p.lat1 != 0:
		p.lat2 = p.lat1
	case m.code == mercatorA && p.lat1 != 0:
		return methodOf(9805), p
	case m.code == polarA && p.lat1 == 0 && math.Abs(math.Abs(p.lat0)-90) > 1e-9:
		p.lat0, p.lat1 = 0, p.lat0
		return methodOf(polarB), p
	case m.code == polarB && p.lat1 != 0:
		p.lat0 = 0
	case m.wkt == "Krovak" && p.grid == 90: // Esri swaps the axes to east and north
		p.grid = 0
	case m.code == 9812 || m.code == 9815:
		if p.grid == 0 {
			p.grid = p.azimuth
		}
	}
	return m, p
}
