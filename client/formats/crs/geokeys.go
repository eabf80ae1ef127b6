package crs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
)

// GeoKeys are the keys of a GeoTIFF or LAS file as they are stored (OGC 19-008).
type GeoKeys struct {
	Directory []uint16  // tag 34735
	Doubles   []float64 // tag 34736
	ASCII     string    // tag 34737
}

// Keys of GeoTIFF.
const (
	keyModelType       = 1024
	keyRasterType      = 1025
	keyCitation        = 1026
	keyGeographic      = 2048
	keyGeogCitation    = 2049
	keyDatum           = 2050
	keyAngularUnits    = 2054
	keyEllipsoid       = 2056
	keySemiMajor       = 2057
	keyInverse         = 2059
	keyPrimeMeridian   = 2051
	keyPrimeLongitude  = 2061
	keyProjected       = 3072
	keyProjCitation    = 3073
	keyProjection      = 3074
	keyTransformation  = 3075
	keyLinearUnits     = 3076
	keyLinearUnitSize  = 3077
	keyParallel1       = 3078
	keyParallel2       = 3079
	keyNaturalLon      = 3080
	keyNaturalLat      = 3081
	keyEasting         = 3082
	keyNorthing        = 3083
	keyFalseLon        = 3084
	keyFalseLat        = 3085
	keyFalseEasting    = 3086
	keyFalseNorthing   = 3087
	keyCentreLon       = 3088
	keyCentreLat       = 3089
	keyScale           = 3092
	keyScaleAtCentre   = 3093
	userDefined        = 32767
	modelProjected     = 1
	modelGeographic    = 2
	modelGeocentric    = 3
	rasterPixelIsPoint = 2
)

// ErrNoSystem: the keys name no reference system.
var ErrNoSystem = errors.New("no reference system is given")

// FromGeoKeys returns the system that GeoTIFF keys describe. An error says why it
// cannot be used.
func FromGeoKeys(keys GeoKeys) (*System, error) {
	switch model := keys.code(keyModelType); {
	case model == modelGeocentric:
		return nil, errors.New("geocentric coordinates are not supported")
	case keys.code(keyProjected) != 0 || model == modelProjected:
		return keys.projected()
	case keys.code(keyGeographic) != 0 || model == modelGeographic:
		d, err := keys.datum()
		if err != nil {
			return nil, err
		}
		s := geographic(d.code, d)
		s.Name = cmp.Or(s.Name, "longitude and latitude")
		switch unit := keys.code(keyAngularUnits); unit {
		case 0, 9102:
		case 9101:
			s.unit, s.UnitName = 1, "radian"
		default:
			return nil, fmt.Errorf("the angular unit EPSG:%d is not supported", unit)
		}
		return s, nil
	}
	return nil, ErrNoSystem
}

// PixelIsPoint reports whether positions are those of the centres of pixels, not of
// their corners.
func (k GeoKeys) PixelIsPoint() bool { return k.code(keyRasterType) == rasterPixelIsPoint }

func (k GeoKeys) projected() (*System, error) {
	if code := k.code(keyProjected); code != 0 && code != userDefined {
		s, err := EPSG(code)
		if err == nil {
			err = k.setUnit(s)
		}
		return s, err
	}
	d, err := k.datum()
	if err != nil {
		return nil, err
	}
	s, err := k.projection(d)
	if err != nil {
		return nil, err
	}
	s.Name = cmp.Or(s.Name, k.text(keyProjCitation), k.text(keyCitation), label(s.kind))
	return s, k.setUnit(s)
}

// projection reads a projection that is described by its parameters.
func (k GeoKeys) projection(d datum) (*System, error) {
	switch p := k.code(keyProjection); {
	case p > 16000 && p <= 16060:
		return utm(utmCode(p-16000, false, d), p-16000, false, d)
	case p > 16100 && p <= 16160:
		return utm(utmCode(p-16100, true, d), p-16100, true, d)
	case p != 0 && p != userDefined:
		return nil, fmt.Errorf("the projection EPSG:%d is not supported", p)
	}
	kinds := map[int]method{1: transverseMercator, 7: mercator, 8: lambert2, 9: lambert1, 11: albers}
	kind, ok := kinds[k.code(keyTransformation)]
	if !ok {
		return nil, fmt.Errorf("the projection method %d of GeoTIFF is not supported", k.code(keyTransformation))
	}
	unit, _, err := k.unit()
	if err != nil {
		return nil, err
	}
	return projected(0, "", d, kind, parameters{
		lat0: k.first(0, keyNaturalLat, keyFalseLat, keyCentreLat), lon0: k.first(0, keyNaturalLon, keyFalseLon,
			keyCentreLon),
		lat1: k.first(0, keyParallel1), lat2: k.first(0, keyParallel2), scale: k.first(1, keyScale, keyScaleAtCentre),
		east: unit * k.first(0, keyEasting, keyFalseEasting), north: unit * k.first(0, keyNorthing, keyFalseNorthing),
	})
}

// datum reads the geographic system.
func (k GeoKeys) datum() (datum, error) {
	code := k.code(keyGeographic)
	if d, ok := datums[code]; ok {
		return d, nil
	}
	name := k.text(keyGeogCitation)
	if code == 0 && k.code(keyDatum) == 0 && k.code(keyEllipsoid) == 0 && k.first(0, keySemiMajor) == 0 {
		return datums[4326], nil // only a projection is named
	}
	if code != 0 && code != userDefined {
		return datum{}, fmt.Errorf("the geographic system EPSG:%d is not known here; its distance from WGS 84 is not known",
			code)
	}
	if pm := k.code(keyPrimeMeridian); pm != 0 && pm != 8901 && k.first(0, keyPrimeLongitude) != 0 {
		return datum{}, errors.New("a prime meridian other than Greenwich is not supported")
	}
	// Datum codes 6xxx belong to the geographic systems 4xxx.
	if d, ok := datums[k.code(keyDatum)-2000]; ok {
		return d, nil
	}
	axis, inverse := k.first(0, keySemiMajor), k.first(0, keyInverse)
	switch k.code(keyEllipsoid) {
	case 7019:
		axis, inverse = grs80.a, grs80.inverse
	case 7030:
		axis, inverse = wgs84Ellipsoid.a, wgs84Ellipsoid.inverse
	}
	return datumOf(name, axis, inverse)
}

// datumOf returns the datum of an ellipsoid, which counts as WGS 84 when it has the
// same size.
func datumOf(name string, axis, inverse float64) (datum, error) {
	if math.Abs(axis-wgs84Ellipsoid.a) > 0.5 || math.Abs(inverse-wgs84Ellipsoid.inverse) > 0.01 {
		return datum{}, fmt.Errorf("the datum %q is not known here; its distance from WGS 84 is not known",
			cmp.Or(name, "without a name"))
	}
	e := ellipsoid{"GRS 1980", axis, inverse}
	if math.Abs(inverse-wgs84Ellipsoid.inverse) < 1e-7 {
		e.name = wgs84Ellipsoid.name
	}
	return datum{name: cmp.Or(name, "unknown"), wkt: "unknown", ellipsoid: e}, nil
}

// units are the lengths of linear units in metres, by their EPSG code.
var units = map[int]struct {
	name   string
	length float64
}{0: {"metre", 1}, 9001: {"metre", 1}, 9002: {"foot", 0.3048}, 9003: {"US survey foot", 1200.0 / 3937}}

func (k GeoKeys) unit() (length float64, name string, err error) {
	code := k.code(keyLinearUnits)
	if code == userDefined {
		if length = k.first(0, keyLinearUnitSize); length > 0 && finite(length) {
			return length, "unit", nil
		}
	}
	u, ok := units[code]
	if !ok {
		return 0, "", fmt.Errorf("the linear unit EPSG:%d is not supported", code)
	}
	return u.length, u.name, nil
}

func (k GeoKeys) setUnit(s *System) (err error) {
	length, name, err := k.unit()
	if err == nil && length != s.unit {
		s.unit, s.UnitName, s.Code = length, name, 0
	}
	return err
}

// entry finds a key.
func (k GeoKeys) entry(key int) (location, count, value int, ok bool) {
	d := k.Directory
	for i := 4; i+4 <= len(d); i += 4 {
		if int(d[i]) == key {
			return int(d[i+1]), int(d[i+2]), int(d[i+3]), true
		}
	}
	return 0, 0, 0, false
}

// code returns a short value, 0 when it is missing.
func (k GeoKeys) code(key int) int {
	if location, _, value, ok := k.entry(key); ok && location == 0 {
		return value
	}
	return 0
}

// first returns the first of several numbers that is there.
func (k GeoKeys) first(otherwise float64, keys ...int) float64 {
	for _, key := range keys {
		if location, _, i, ok := k.entry(key); ok && location == 34736 && i < len(k.Doubles) {
			return k.Doubles[i]
		}
	}
	return otherwise
}

func (k GeoKeys) text(key int) string {
	location, count, i, ok := k.entry(key)
	if !ok || location != 34737 || i > len(k.ASCII) {
		return ""
	}
	text := k.ASCII[i:min(len(k.ASCII), i+count)]
	text, _, _ = strings.Cut(text, "|")
	return strings.TrimRight(strings.ToValidUTF8(text, ""), "\x00 ")
}
