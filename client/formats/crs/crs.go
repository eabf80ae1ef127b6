// Package crs converts the coordinates of reference systems to longitude and latitude of WGS 84 and
// back. A System comes from an EPSG code (EPSG), the keys of a GeoTIFF or LAS file (FromGeoKeys), or a
// WKT text (FromWKT).
//
// The systems of the EPSG register, their datums and the transformations to WGS 84 are in
// register.txt.gz, generated from the database of PROJ:
//
//	go generate ./client/formats/crs
//
// needs /usr/share/proj/proj.db and the programs of GDAL (Debian: proj-data, gdal-bin). Positions agree
// with gdaltransform within two metres, or the system is refused: a datum counts as WGS 84 only if the
// register defines it so. The projections are implemented here because the available Go modules lack
// most methods and all datums.
package crs

import (
	"fmt"
	"math"
	"slices"
)

// System is a coordinate reference system.
type System struct {
	Code       int    // EPSG code, 0 for none
	Name       string // such as "WGS 84 / UTM zone 25N"
	Geographic bool   // coordinates are degrees: x is the longitude, y the latitude
	UnitName   string // of the coordinates: "metre", "degree", "foot", "US survey foot"

	unit   float64 // length of the unit in metres; in radians when Geographic
	datum  *datum
	method *method // nil when Geographic
	axes   string  // directions of the coordinates, such as "ws"; "" for east and north
	parameters
	projection projection      // nil when Geographic
	areas      [][2][2]float64 // of the datum's transformations, if there are several
}

const degree = math.Pi / 180

var wgs84Ellipsoid = ellipsoid{"WGS 84", 6378137, 298.257223563}

// WGS84 is longitude and latitude in degrees, EPSG:4326.
var WGS84 = geographic(4326, (&datum{code: 6326, system: 4326, name: "WGS 84", wkt: "WGS_1984",
	ellipsoid: wgs84Ellipsoid,
	prime:     "Greenwich"}).stated([7]float64{}))

func geographic(code int, d *datum) *System {
	return &System{Code: code, Name: d.name, Geographic: true, UnitName: "degree", unit: degree, datum: d}
}

// ToWGS84 converts coordinates to longitude and latitude in degrees, or NaN off the map or outside the
// area for which the datum is known.
func (s *System) ToWGS84(x, y float64) (lon, lat float64) {
	lon, lat = x*s.unit/degree, y*s.unit/degree
	if !s.Geographic {
		x, y = s.fromAxes(x*s.unit, y*s.unit)
		lon, lat = s.projection.inverse(x, y)
		lon, lat = lon/degree+s.lon0, lat/degree
	}
	lon += s.datum.meridian
	t := s.shiftAt(x, y, lon, lat)
	if t == nil {
		return math.NaN(), math.NaN()
	}
	return t.apply(s.datum.ellipsoid, lon, lat)
}

// FromWGS84 inverts ToWGS84. It accepts longitudes beyond 180 degrees, and returns NaN for positions
// too far from the centre of the projection.
func (s *System) FromWGS84(lon, lat float64) (x, y float64) {
	if math.Abs(lat) > 90 {
		return math.NaN(), math.NaN()
	}
	onLon, onLat := lon, lat // relative to the datum
	x, y = s.project(lon, lat)
	for range 3 { // the transformation depends on the position
		t := s.shiftAt(x, y, onLon, onLat)
		if t == nil {
			return math.NaN(), math.NaN()
		}
		nextLon, nextLat := t.back(s.datum.ellipsoid, lon, lat)
		if nextLon == onLon && nextLat == onLat {
			break
		}
		onLon, onLat = nextLon, nextLat
		x, y = s.project(onLon, onLat)
	}
	if s.Geographic {
		return x, y
	}
	x, y = s.toAxes(x, y)
	return x / s.unit, y / s.unit
}

// project returns the coordinates of a position on the datum: in metres on the map, or in the unit of a
// geographic system.
func (s *System) project(lon, lat float64) (x, y float64) {
	lon -= s.datum.meridian
	if s.Geographic {
		return lon * degree / s.unit, lat * degree / s.unit
	}
	lon = math.Remainder(lon-s.lon0, 360)
	if _, ok := s.projection.(*transverse); ok && math.Abs(lon) > 60 {
		return math.NaN(), math.NaN()
	}
	return s.projection.forward(lon*degree, lat*degree)
}

// toAxes converts east and north to coordinates in the directions of the axes.
func (s *System) toAxes(x, y float64) (float64, float64) {
	var c [2]float64
	for i, direction := range s.directions() {
		switch direction {
		case 'e':
			c[i] = s.east + x
		case 'w':
			c[i] = s.east - x
		case 'n':
			c[i] = s.north + y
		case 's':
			c[i] = s.north - y
		}
	}
	return c[0], c[1]
}

// fromAxes inverts toAxes.
func (s *System) fromAxes(a, b float64) (x, y float64) {
	for i, direction := range s.directions() {
		v := [2]float64{a, b}[i]
		switch direction {
		case 'e':
			x = v - s.east
		case 'w':
			x = s.east - v
		case 'n':
			y = v - s.north
		case 's':
			y = s.north - v
		}
	}
	return x, y
}

func (s *System) directions() string {
	if s.axes == "" {
		return "en"
	}
	return s.axes
}

// Metres returns the length of a unit of the coordinates at a latitude, from west to east and from
// south to north. Projected systems have one length everywhere.
func (s *System) Metres(lat float64) (x, y float64) {
	if !s.Geographic {
		return s.unit, s.unit
	}
	length := s.unit * s.datum.ellipsoid.a
	return length * math.Cos(lat*degree), length
}

// OnWGS84 reports whether positions on the datum equal WGS 84 within about a metre.
func (s *System) OnWGS84() bool {
	return !slices.ContainsFunc(s.datum.shifts, func(t shift) bool {
		most := 0.0
		for i, v := range t.helmert {
			most += math.Abs(v) * [...]float64{1, 1, 1, 31, 31, 31, 6.4}[i] // metres at the surface
		}
		return most > 1.5
	})
}

// String returns the name, with the EPSG code, if any.
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
