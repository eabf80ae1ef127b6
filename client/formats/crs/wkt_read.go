package crs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
)

// FromWKT returns the system that a well-known text describes: WKT 1 as written by
// GDAL or Esri (.prj files), or WKT 2. The vertical part of a compound system is left
// out. An error says why the system cannot be used.
func FromWKT(text string) (*System, error) {
	r := &wktReader{text: text}
	n, err := r.node(0)
	if err != nil {
		return nil, err
	}
	return n.system()
}

func (n wktNode) system() (*System, error) {
	switch n.keyword {
	case "COMPD_CS", "COMPOUNDCRS":
		if inner, ok := n.child("PROJCS", "PROJCRS", "PROJECTEDCRS", "GEOGCS", "GEOGCRS", "GEODCRS", "BOUNDCRS"); ok {
			return inner.system()
		}
	case "BOUNDCRS", "SOURCECRS":
		if len(n.children) > 0 {
			return n.children[0].system()
		}
	case "GEOGCS", "GEOGCRS", "GEODCRS", "GEODETICCRS", "GEOGRAPHICCRS":
		return n.geographic()
	case "PROJCS", "PROJCRS", "PROJECTEDCRS":
		if s, err := EPSG(n.code()); err == nil {
			return s, nil
		}
		return n.projected()
	case "LOCAL_CS", "ENGCRS", "ENGINEERINGCRS":
		return nil, errors.New("a local system has no position on the earth")
	}
	return nil, fmt.Errorf("reference systems of the kind %s are not supported", n.keyword)
}

func (n wktNode) geographic() (*System, error) {
	d, err := n.datum()
	if err != nil {
		return nil, err
	}
	s := geographic(d.code, d)
	s.Name = cmp.Or(d.name, n.name())
	unit, ok := n.child("UNIT", "ANGLEUNIT")
	if cs, has := n.child("AXIS"); !ok && has {
		unit, _ = cs.child("ANGLEUNIT", "UNIT")
	}
	if size := unit.number(1, degree); math.Abs(size-degree) > 1e-9 {
		s.unit, s.UnitName, s.Code = size, cmp.Or(strings.ToLower(unit.name()), "unit"), 0
	}
	return s, nil
}

// datum finds the datum by its code, its name, or the size of its ellipsoid.
func (n wktNode) datum() (datum, error) {
	if d, ok := datums[n.code()]; ok {
		return d, nil
	}
	named, ok := n.child("DATUM", "ENSEMBLE", "GEODETICDATUM", "TRF")
	if !ok {
		return datum{}, errors.New("the reference system names no datum")
	}
	if d, ok := datums[named.code()-2000]; ok { // datum codes 6xxx belong to the systems 4xxx
		return d, nil
	}
	prime, _ := n.child("PRIMEM", "PRIMEMERIDIAN")
	if prime.number(1, 0) != 0 {
		return datum{}, fmt.Errorf("the prime meridian %s is not supported, only Greenwich", prime.name())
	}
	for _, d := range datums {
		if letters(d.wkt) == letters(strings.TrimPrefix(named.name(), "D_")) {
			return d, nil
		}
	}
	e, _ := named.child("SPHEROID", "ELLIPSOID")
	return datumOf(named.name(), e.number(1, 0), e.number(2, 0))
}

// methods are the projections by their names in the dialects of WKT, in letters.
var methods = map[string]method{
	"transversemercator": transverseMercator, "gausskruger": transverseMercator,
	"mercator": mercator, "mercator1sp": mercator, "mercatorvarianta": mercator,
	"mercatorauxiliarysphere": webMercator, "popularvisualisationpseudomercator": webMercator,
	"albers": albers, "albersconicequalarea": albers, "albersequalarea": albers,
	"lambertconformalconic1sp": lambert1, "lambertconicconformal1sp": lambert1,
	"lambertconformalconic": lambert2, "lambertconformalconic2sp": lambert2, "lambertconicconformal2sp": lambert2,
}

func (n wktNode) projected() (*System, error) {
	base, ok := n.child("GEOGCS", "BASEGEOGCRS", "BASEGEODCRS", "GEOGCRS")
	if !ok {
		return nil, errors.New("the reference system is projected from nothing")
	}
	d, err := base.datum()
	if err != nil {
		return nil, err
	}
	conversion := n
	if c, ok := n.child("CONVERSION"); ok {
		conversion = c
	}
	named, _ := conversion.child("PROJECTION", "METHOD")
	kind, ok := methods[letters(named.name())]
	if !ok {
		return nil, fmt.Errorf("the projection %q is not supported", named.name())
	}
	if e, _ := n.child("EXTENSION"); kind == mercator &&
		strings.Contains(strings.Join(e.values, " "), "+a=6378137 +b=6378137") {
		kind = webMercator // WKT 1 has no name for it
	}
	unit, hasUnit := n.child("UNIT", "LENGTHUNIT")
	if axis, has := n.child("AXIS"); !hasUnit && has {
		unit, hasUnit = axis.child("LENGTHUNIT", "UNIT")
	}
	length := unit.number(1, 1)
	if length <= 0 {
		return nil, errors.New("the unit of the coordinates has no length")
	}
	angle := degree
	if a, ok := base.child("UNIT", "ANGLEUNIT"); ok {
		angle = a.number(1, degree)
	}
	p := parameters{scale: 1}
	places := map[string]*float64{
		"latitudeoforigin": &p.lat0, "latitudeofnaturalorigin": &p.lat0, "latitudeoffalseorigin": &p.lat0,
		"latitudeofcenter": &p.lat0,
		"centralmeridian":  &p.lon0, "longitudeofnaturalorigin": &p.lon0, "longitudeoffalseorigin": &p.lon0,
		"longitudeofcenter": &p.lon0, "longitudeoforigin": &p.lon0,
		"standardparallel1": &p.lat1, "latitudeof1ststandardparallel": &p.lat1,
		"standardparallel2": &p.lat2, "latitudeof2ndstandardparallel": &p.lat2,
		"scalefactor": &p.scale, "scalefactoratnaturalorigin": &p.scale,
		"falseeasting": &p.east, "eastingatfalseorigin": &p.east, "falsenorthing": &p.north,
		"northingatfalseorigin": &p.north,
	}
	for _, c := range conversion.children {
		to := places[letters(c.name())]
		if c.keyword != "PARAMETER" || to == nil {
			continue
		}
		own, has := c.child("LENGTHUNIT", "ANGLEUNIT", "SCALEUNIT", "UNIT")
		switch size := own.number(1, 1); {
		case to == &p.scale:
			*to = c.number(1, 1)
		case to == &p.east || to == &p.north:
			if !has {
				size = length
			}
			*to = c.number(1, 0) * size
		default:
			if !has {
				size = angle
			}
			*to = c.number(1, 0) * size / degree
		}
	}
	if kind == lambert2 && p.lat2 == 0 && p.lat1 != 0 { // Esri has one name for both forms
		p.lat2 = p.lat1
	}
	if kind == mercator && p.lat1 != 0 {
		return nil, errors.New("the Mercator projection with a standard parallel is not supported")
	}
	s, err := projected(0, cmp.Or(n.name(), label(kind)), d, kind, p)
	if err != nil {
		return nil, err
	}
	if hasUnit && length != 1 {
		s.unit, s.UnitName = length, cmp.Or(strings.ReplaceAll(unit.name(), "_", " "), "unit")
		return s, nil
	}
	if zone := (p.lon0 + 183) / 6; kind == transverseMercator && p.scale == 0.9996 && zone == math.Trunc(zone) {
		for _, south := range []bool{false, true} {
			if z, err := utm(utmCode(int(zone), south, d), int(zone), south, d); err == nil && z.parameters == s.parameters &&
				z.Code != 0 {
				return z, nil
			}
		}
	}
	return s, nil
}
