package crs

import (
	"fmt"
	"math"
	"strings"
)

// parameters are a projection's parameters; angles in degrees, lengths in metres.
type parameters struct {
	lat0, lon0, lat1, lat2, azimuth, grid, scale, east, north, height float64
}

// fields returns the parameters in the order of the register.
func (p *parameters) fields() [10]*float64 {
	return [...]*float64{&p.lat0, &p.lon0, &p.lat1, &p.lat2, &p.azimuth, &p.grid, &p.scale, &p.east, &p.north, &p.height}
}

// same reports whether two projections differ by less than the rounding of programs.
func (p parameters) same(o parameters) bool {
	a, b := p.fields(), o.fields()
	for i := range a {
		tolerance := 2e-8 // in degrees; also for the scale
		if i >= 7 {
			tolerance = 2e-3
		}
		if !(math.Abs(*a[i]-*b[i]) <= tolerance) {
			return false
		}
	}
	return true
}

// projection converts between radians, from the central meridian, and metres.
type projection interface {
	forward(lon, lat float64) (x, y float64)
	inverse(x, y float64) (lon, lat float64)
}

// method is a kind of projection.
type method struct {
	code  int    // in the EPSG register
	wkt   string // name in WKT 1
	names string // in other dialects, letters only
	// parameters are the names of the fields in WKT 1, "" for those the method lacks and for easting
	// and northing, which all have.
	parameters [10]string
	axes       string // directions of the coordinates, unless east and north
	project    func(a, e float64, p parameters) projection
}

const (
	lat0, lon0     = "latitude_of_origin", "central_meridian"
	latC, lonC     = "latitude_of_center", "longitude_of_center"
	lat1, lat2     = "standard_parallel_1", "standard_parallel_2"
	scaleFactor    = "scale_factor"
	mercatorA      = 9804
	webMercator    = 1024
	lambert1       = 9801
	lambert2       = 9802
	polarA         = 9810
	polarB         = 9829
	transverseCode = 9807
)

// methods are the supported projections.
var methods = []method{
	{transverseCode, "Transverse_Mercator", "gausskruger transversemercator3d",
		[10]string{lat0, lon0, "", "", "", "", scaleFactor}, "", newTransverse},
	{9808, "Transverse_Mercator_South_Orientated", "", [10]string{lat0, lon0, "", "", "", "", scaleFactor}, "ws",
		newTransverse},
	{lambert1, "Lambert_Conformal_Conic_1SP", "lambertconicconformal1sp", [10]string{lat0, lon0, "", "", "", "",
		scaleFactor}, "",
		newLambert1},
	{lambert2, "Lambert_Conformal_Conic_2SP", "lambertconformalconic lambertconicconformal2sp",
		[10]string{lat0, lon0, lat1, lat2}, "", newLambert2},
	{1051, "Lambert_Conic_Conformal_(2SP_Michigan)", "", [10]string{lat0, lon0, lat1, lat2,
		9: "Ellipsoid scaling factor"}, "", newMichigan},
	{9822, "Albers_Conic_Equal_Area", "albers albersequalarea", [10]string{latC, lonC, lat1, lat2}, "", newAlbers},
	{1052, "Colombia_Urban", "igacplanocartesiano", [10]string{lat0, lon0, 9: "Projection plane origin height"}, "",
		newColombia},
	{9806, "Cassini_Soldner", "cassini", [10]string{lat0, lon0, "", "", "", "", scaleFactor}, "", newCassini},
	{polarA, "Polar_Stereographic", "polarstereographicvarianta", [10]string{lat0, lon0, "", "", "", "", scaleFactor}, "",
		newPolarA},
	{polarB, "Polar_Stereographic", "polarstereographicvariantb stereographicnorthpole stereographicsouthpole",
		[10]string{"", lon0, lat0}, "", newPolarB},
	{9809, "Oblique_Stereographic", "doublestereographic", [10]string{lat0, lon0, "", "", "", "", scaleFactor}, "",
		newStereographic},
	{9812, "Hotine_Oblique_Mercator", "obliquemercator hotineobliquemercatorvarianta " +
		"hotineobliquemercatorazimuthnaturalorigin rectifiedskeworthomorphicnaturalorigin",
		[10]string{latC, lonC, "", "", "azimuth", "rectified_grid_angle", scaleFactor}, "", newHotineA},
	{9815, "Hotine_Oblique_Mercator_Azimuth_Center", "hotineobliquemercatorvariantb rectifiedskeworthomorphiccenter",
		[10]string{latC, lonC, "", "", "azimuth", "rectified_grid_angle", scaleFactor}, "", newHotineB},
	{9820, "Lambert_Azimuthal_Equal_Area", "", [10]string{latC, lonC}, "", newAzimuthal},
	{mercatorA, "Mercator_1SP", "mercator mercatorvarianta", [10]string{lat0, lon0, "", "", "", "", scaleFactor}, "",
		newMercator},
	{9805, "Mercator_2SP", "mercatorvariantb", [10]string{"", lon0, lat1}, "", newMercator},
	{webMercator, "Popular_Visualisation_Pseudo_Mercator", "mercatorauxiliarysphere", [10]string{lat0, lon0}, "",
		newWebMercator},
	{9818, "Polyconic", "americanpolyconic", [10]string{lat0, lon0}, "", newPolyconic},
	{9819, "Krovak", "", [10]string{latC, lonC, "pseudo_standard_parallel_1", "", "azimuth", "", scaleFactor}, "sw",
		newKrovak},
	{1041, "Krovak", "krovaknorthorientated", [10]string{latC, lonC, "pseudo_standard_parallel_1", "", "azimuth", "",
		scaleFactor}, "", newKrovak},
	{9835, "Cylindrical_Equal_Area", "lambertcylindricalequalarea", [10]string{"", lon0, lat1}, "", newEqualCylinder},
}

// methodOf returns the method with an EPSG code, nil for an unknown one.
func methodOf(code int) *method {
	for i := range methods {
		if methods[i].code == code {
			return &methods[i]
		}
	}
	return nil
}

// methodNamed returns the method with a name in any dialect of WKT, nil for an unknown one.
func methodNamed(name string) *method {
	name = letters(name)
	for i, m := range methods {
		if letters(m.wkt) == name || strings.Contains(" "+m.names+" ", " "+name+" ") {
			return &methods[i]
		}
	}
	return nil
}

// label returns the method's name for messages.
func (m *method) label() string { return strings.ReplaceAll(m.wkt, "_", " ") }

// projected creates a projected system, or refuses its parameters.
func projected(code int, name string, d *datum, m *method, p parameters) (*System, error) {
	for _, angle := range []*float64{&p.lat0, &p.lat1, &p.lat2} {
		if math.Abs(*angle) > 90 && math.Abs(*angle) < 90+1e-9 { // a rounded sum of degrees and minutes
			*angle = math.Copysign(90, *angle)
		}
	}
	s := &System{Code: code, Name: name, UnitName: "metre", unit: 1, datum: d, method: m, axes: m.axes, parameters: p}
	s.projection = m.project(d.ellipsoid.a, d.ellipsoid.eccentricity(), p)
	x, y := s.projection.forward(0.01, (p.lat0+(p.lat1+p.lat2)/2)/2*degree)
	if !finite(x, y, p.east, p.north, p.lon0, p.scale) || math.Abs(p.lon0) > 360 ||
		max(math.Abs(p.lat0), math.Abs(p.lat1), math.Abs(p.lat2)) > 90 {
		return nil, fmt.Errorf("the parameters of the projection %s are invalid", m.label())
	}
	if len(d.shifts) > 1 {
		for i := range d.shifts {
			low, high := s.rectangle(&d.shifts[i])
			s.areas = append(s.areas, [2][2]float64{low, high})
		}
	}
	return s, nil
}
