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
	keySemiMinor       = 2058
	keyToWGS84         = 2062
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
	keyCentreEasting   = 3090
	keyCentreNorthing  = 3091
	keyAzimuth         = 3094
	keyPoleLon         = 3095
	keyGridAngle       = 3096
	userDefined        = 32767
	modelProjected     = 1
	modelGeographic    = 2
	modelGeocentric    = 3
	rasterPixelIsPoint = 2
)

// ErrNoSystem means that the keys do not name a reference system.
var ErrNoSystem = errors.New("no reference system is given")

// FromGeoKeys returns the system described by GeoTIFF keys, else the one that Esri's software writes
// into their citation. The error is why it cannot be used.
func FromGeoKeys(keys GeoKeys) (*System, error) {
	s, err := keys.system()
	if text := keys.cited(); err != nil && text != "" {
		return FromWKT(text)
	}
	return s, err
}

// cited returns the well-known text in a citation, "" if the keys name a system of the register.
func (k GeoKeys) cited() string {
	code := k.code(keyProjected)
	if k.code(keyModelType) == modelGeographic {
		code = k.code(keyGeographic)
	}
	if code != 0 && code != userDefined {
		return ""
	}
	for _, key := range []int{keyProjCitation, keyCitation, keyGeogCitation} {
		if _, text, ok := strings.Cut(k.text(key), "ESRI PE String = "); ok {
			return text
		}
	}
	return ""
}

func (k GeoKeys) system() (*System, error) {
	switch model := k.code(keyModelType); {
	case model == modelGeocentric:
		return nil, errors.New("geocentric coordinates are not supported")
	case k.code(keyProjected) != 0 || model == modelProjected:
		return k.projected()
	case k.code(keyGeographic) != 0 || model == modelGeographic:
		d, err := k.datum()
		if err == nil {
			err = d.usable()
		}
		if err != nil {
			return nil, err
		}
		s := geographic(d.system, d)
		s.Name = cmp.Or(s.Name, "longitude and latitude")
		if code := k.code(keyAngularUnits); code != 0 && code != 9102 {
			u, ok := loaded().units[code]
			if !ok {
				return nil, fmt.Errorf("the angular unit EPSG:%d is not supported", code)
			}
			s.unit, s.UnitName = u.factor, u.name
		}
		return s, nil
	}
	return nil, ErrNoSystem
}

// PixelIsPoint reports whether positions refer to the centres of pixels rather than their corners.
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
	if err := k.setUnit(s); err != nil {
		return nil, err
	}
	s.Name = cmp.Or(k.text(keyProjCitation), k.text(keyCitation), s.method.label())
	if d.code == 0 {
		return s, nil
	}
	known, err := s.registered()
	if err != nil {
		return nil, fmt.Errorf("the reference system %q cannot be used: %w", s.Name, err)
	}
	return known, nil
}

// transformations maps GeoTIFF methods to EPSG codes.
var transformations = map[int]int{1: transverseCode, 3: 9812, 7: mercatorA, 8: lambert2, 9: lambert1, 10: 9820,
	11: 9822,
	15: polarA, 16: 9809, 18: 9806, 22: 9818, 27: 9808, 28: 9835, 9815: 9815}

// projection reads a projection given by its parameters.
func (k GeoKeys) projection(d *datum) (*System, error) {
	switch p := k.code(keyProjection); {
	case p > 16000 && p <= 16060, p > 16100 && p <= 16160:
		zone := parameters{lon0: float64(p%100*6 - 183), scale: 0.9996, east: 500000}
		if p > 16100 {
			zone.north = 10000000
		}
		return projected(0, "", d, methodOf(transverseCode), zone)
	case p != 0 && p != userDefined:
		return nil, fmt.Errorf("the projection EPSG:%d is not supported", p)
	}
	m := methodOf(transformations[k.code(keyTransformation)])
	if m == nil {
		return nil, fmt.Errorf("the projection method %d of GeoTIFF is not supported", k.code(keyTransformation))
	}
	u, err := k.unit()
	if err != nil {
		return nil, err
	}
	if angle := k.code(keyAngularUnits); angle != 0 && angle != 9102 {
		return nil, fmt.Errorf("the angular unit EPSG:%d is not supported", angle)
	}
	m, p := m.variant(parameters{
		lat0: k.first(0, keyNaturalLat, keyFalseLat, keyCentreLat), lon0: k.first(0, keyNaturalLon, keyFalseLon,
			keyCentreLon, keyPoleLon),
		lat1: k.first(0, keyParallel1), lat2: k.first(0, keyParallel2), scale: k.first(1, keyScale, keyScaleAtCentre),
		azimuth: k.first(0, keyAzimuth), grid: k.first(0, keyGridAngle),
		east:  u.factor * k.first(0, keyEasting, keyFalseEasting, keyCentreEasting),
		north: u.factor * k.first(0, keyNorthing, keyFalseNorthing, keyCentreNorthing),
	})
	return projected(0, "", d, m, p)
}

// datum reads the geographic system. It does not check that its datum is usable.
func (k GeoKeys) datum() (*datum, error) {
	code := k.code(keyGeographic)
	stated := k.numbers(keyToWGS84)
	if code != 0 && code != userDefined && stated == nil {
		s, err := EPSG(code)
		if err == nil && !s.Geographic {
			err = fmt.Errorf("the reference system EPSG:%d has no longitudes and latitudes", code)
		}
		if err != nil {
			return nil, err
		}
		return s.datum, nil
	}
	if code == 0 && k.code(keyDatum) == 0 && k.code(keyEllipsoid) == 0 && k.first(0, keySemiMajor) == 0 {
		return WGS84.datum, nil // only a projection is given
	}
	own := ellipsoid{"", k.first(0, keySemiMajor), k.first(0, keyInverse)}
	if minor := k.first(0, keySemiMinor); own.inverse == 0 && minor > 0 && minor < own.a {
		own.inverse = own.a / (own.a - minor)
	}
	r := loaded()
	if known, ok := r.ellipsoids[k.code(keyEllipsoid)]; ok {
		own = known
	}
	name := strings.TrimSpace(strings.TrimPrefix(k.text(keyGeogCitation), "GCS Name ="))
	d := findDatum(k.code(keyDatum), own, name)
	if s, err := EPSG(code); d == nil && err == nil && s.Geographic {
		d = s.datum
	}
	switch {
	case stated != nil:
		if d != nil && own.a == 0 {
			own = d.ellipsoid
		}
		if own.a <= 0 {
			return nil, errors.New("the reference system names no ellipsoid")
		}
		var helmert [7]float64
		copy(helmert[:], stated)
		name = cmp.Or(name, "unknown")
		d = datum{name: name, wkt: name, ellipsoid: own, prime: "Greenwich"}.stated(helmert)
	case d == nil:
		return nil, fmt.Errorf("the datum %q is unknown, and no transformation to WGS 84 is given",
			cmp.Or(name, "without a name"))
	}
	if pm := k.code(keyPrimeMeridian); pm != 0 && pm != 8901 || k.first(0, keyPrimeLongitude) != 0 {
		longitude := k.first(d.meridian, keyPrimeLongitude)
		if pm != userDefined && k.first(0, keyPrimeLongitude) == 0 && d.meridian == 0 {
			return nil, fmt.Errorf("the prime meridian EPSG:%d is not supported", pm)
		}
		other := *d
		other.prime, other.meridian = "unknown", longitude
		d = &other
	}
	return d, nil
}

func (k GeoKeys) unit() (u unit, err error) {
	code := k.code(keyLinearUnits)
	switch code {
	case 0:
		return unit{"metre", 1}, nil
	case userDefined:
		if length := k.first(0, keyLinearUnitSize); length > 0 && finite(length) {
			return unit{"unit", length}, nil
		}
	}
	u, ok := loaded().units[code]
	if !ok {
		err = fmt.Errorf("the linear unit EPSG:%d is not supported", code)
	}
	return u, err
}

// setUnit sets a system's unit from the keys.
func (k GeoKeys) setUnit(s *System) error {
	if k.code(keyLinearUnits) == 0 {
		return nil
	}
	u, err := k.unit()
	if err == nil && math.Abs(u.factor-s.unit) > 1e-9 {
		s.unit, s.UnitName, s.Code = u.factor, u.name, 0
	}
	return err
}

// entry returns the directory entry of a key.
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

// first returns the first number present among several keys.
func (k GeoKeys) first(otherwise float64, keys ...int) float64 {
	for _, key := range keys {
		if location, _, i, ok := k.entry(key); ok && location == 34736 && i < len(k.Doubles) {
			return k.Doubles[i]
		}
	}
	return otherwise
}

// numbers returns all numbers of a key.
func (k GeoKeys) numbers(key int) []float64 {
	location, count, i, ok := k.entry(key)
	if !ok || location != 34736 || i+count > len(k.Doubles) || !finite(k.Doubles[i:i+count]...) {
		return nil
	}
	return k.Doubles[i : i+count]
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
