// Package crs converts the coordinates of projected reference systems to longitude
// and latitude and back. A System comes from an EPSG code (EPSG), the keys of a
// GeoTIFF or LAS file (FromGeoKeys), or a WKT text (FromWKT).
//
// It knows the systems of survey data: longitude and latitude, web and other
// Mercator, transverse Mercator with all UTM zones, Albers, and Lambert's conformal
// conic. Datums that differ from WGS 84 by at most two metres count as WGS 84;
// others are refused. The projections are written here because the Go modules that
// can be had are wrong by metres at the edge of a UTM zone.
package crs

import (
	"fmt"
	"math"
	"strings"
)

// System is a coordinate reference system.
type System struct {
	Code       int    // EPSG code, 0 for a system without one
	Name       string // such as "WGS 84 / UTM zone 25N"
	Geographic bool   // coordinates are degrees: x is the longitude, y the latitude
	UnitName   string // of the coordinates: "metre", "degree", "foot", "US survey foot"

	unit  float64 // length of the unit in metres; in radians when Geographic
	datum datum
	kind  method
	parameters
	projection projection // nil when Geographic
}

// parameters of a projection; angles in degrees, lengths in metres.
type parameters struct {
	lat0, lon0, lat1, lat2, scale, east, north float64
}

// projection converts between radians, from the central meridian, and metres.
type projection interface {
	forward(lon, lat float64) (x, y float64)
	inverse(x, y float64) (lon, lat float64)
}

// method is the kind of a projection, under its name in WKT.
type method string

const (
	transverseMercator method = "Transverse_Mercator"
	mercator           method = "Mercator_1SP"
	webMercator        method = "Popular_Visualisation_Pseudo_Mercator"
	albers             method = "Albers_Conic_Equal_Area"
	lambert1           method = "Lambert_Conformal_Conic_1SP"
	lambert2           method = "Lambert_Conformal_Conic_2SP"
)

const degree = math.Pi / 180

// WGS84 is longitude and latitude in degrees, EPSG:4326.
var WGS84 *System

func geographic(code int, d datum) *System {
	return &System{Code: code, Name: d.name, Geographic: true, UnitName: "degree", unit: degree, datum: d}
}

// projected makes a system of a projection, or refuses its parameters.
func projected(code int, name string, d datum, kind method, p parameters) (*System, error) {
	s := &System{Code: code, Name: name, UnitName: "metre", unit: 1, datum: d, kind: kind, parameters: p}
	a, f := d.ellipsoid.a, 1/d.ellipsoid.inverse
	switch kind {
	case transverseMercator:
		s.projection = newTransverse(a, f, p)
	case mercator:
		s.projection = cylinder{a, eccentricity(f), p.scale}
	case webMercator:
		s.projection = cylinder{a, 0, 1}
	case albers:
		s.projection = newAlbers(a, f, p)
	case lambert1, lambert2:
		s.projection = newLambert(a, f, kind, p)
	}
	x, y := s.projection.forward(0.01, (p.lat1+p.lat2)/2*degree)
	if !finite(x, y, p.east, p.north, p.lon0) || math.Abs(p.lon0) > 360 {
		return nil, fmt.Errorf("the parameters of the projection %s make no sense", label(kind))
	}
	return s, nil
}

// label is the name of a method in messages.
func label(kind method) string { return strings.ReplaceAll(string(kind), "_", " ") }

// ToWGS84 converts coordinates to longitude and latitude in degrees; NaN for what
// is not on the map.
func (s *System) ToWGS84(x, y float64) (lon, lat float64) {
	if s.Geographic {
		return x * s.unit / degree, y * s.unit / degree
	}
	lon, lat = s.projection.inverse(x*s.unit-s.east, y*s.unit-s.north)
	return lon/degree + s.lon0, lat / degree
}

// FromWGS84 is the inverse of ToWGS84. The longitude may be any turn of 360 degrees;
// positions too far from the centre of the projection are NaN.
func (s *System) FromWGS84(lon, lat float64) (x, y float64) {
	if math.Abs(lat) > 90 {
		return math.NaN(), math.NaN()
	}
	if s.Geographic {
		return lon * degree / s.unit, lat * degree / s.unit
	}
	lon = math.Remainder(lon-s.lon0, 360)
	if s.kind == transverseMercator && math.Abs(lon) > 60 {
		return math.NaN(), math.NaN()
	}
	x, y = s.projection.forward(lon*degree, lat*degree)
	return (x + s.east) / s.unit, (y + s.north) / s.unit
}

// Metres returns the length of a unit of the coordinates at a latitude, from west
// to east and from south to north. Projected systems have one everywhere.
func (s *System) Metres(lat float64) (x, y float64) {
	if !s.Geographic {
		return s.unit, s.unit
	}
	length := s.unit * s.datum.ellipsoid.a
	return length * math.Cos(lat*degree), length
}

// String is the name, with the EPSG code if there is one.
func (s *System) String() string {
	if s.Code == 0 {
		return s.Name
	}
	return fmt.Sprintf("%s (EPSG:%d)", s.Name, s.Code)
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
