package crs

import "fmt"

type ellipsoid struct {
	name       string
	a, inverse float64 // semi-major axis in metres, inverse flattening
}

var (
	wgs84Ellipsoid = ellipsoid{"WGS 84", 6378137, 298.257223563}
	grs80          = ellipsoid{"GRS 1980", 6378137, 298.257222101}
)

// datum is a datum that counts as WGS 84, with the system of its longitudes and
// latitudes.
type datum struct {
	code      int    // EPSG code of the geographic system, 0 for none
	name      string // of the geographic system
	wkt       string // name of the datum in WKT
	ellipsoid ellipsoid
}

// datums by the EPSG code of their geographic system.
var datums = map[int]datum{}

func init() {
	for _, d := range []datum{
		{4326, "WGS 84", "WGS_1984", wgs84Ellipsoid},
		{4258, "ETRS89", "European_Terrestrial_Reference_System_1989", grs80},
		{4269, "NAD83", "North_American_Datum_1983", grs80},
		{6318, "NAD83(2011)", "NAD83_National_Spatial_Reference_System_2011", grs80},
		{4759, "NAD83(NSRS2007)", "NAD83_National_Spatial_Reference_System_2007", grs80},
		{4617, "NAD83(CSRS)", "NAD83_Canadian_Spatial_Reference_System", grs80},
		{4674, "SIRGAS 2000", "Sistema_de_Referencia_Geocentrico_para_las_AmericaS_2000", grs80},
		{4171, "RGF93 v1", "Reseau_Geodesique_Francais_1993_v1", grs80},
		{4624, "RGFG95", "Reseau_Geodesique_Francais_Guyane_1995", grs80},
		{4627, "RGR92", "Reseau_Geodesique_de_la_Reunion_1992", grs80},
		{5489, "RGAF09", "Reseau_Geodesique_des_Antilles_Francaises_2009", grs80},
		{4283, "GDA94", "Geocentric_Datum_of_Australia_1994", grs80},
		{7844, "GDA2020", "Geocentric_Datum_of_Australia_2020", grs80},
		{4167, "NZGD2000", "New_Zealand_Geodetic_Datum_2000", grs80},
		{6668, "JGD2011", "Japanese_Geodetic_Datum_2011", grs80},
	} {
		datums[d.code] = d
	}
	WGS84 = geographic(4326, datums[4326])
}

// zones are runs of codes of UTM zones.
var zones = []struct {
	first, zone, count int // code and number of the first zone
	south              bool
	datum              int
}{
	{32601, 1, 60, false, 4326}, {32701, 1, 60, true, 4326},
	{25828, 28, 11, false, 4258},
	{26901, 1, 23, false, 4269}, {6328, 59, 2, false, 6318}, {6330, 1, 19, false, 6318},
	{3706, 59, 2, false, 4759}, {3708, 1, 19, false, 4759}, {2955, 11, 3, false, 4617}, {2958, 17, 5, false, 4617},
	{31965, 11, 12, false, 4674}, {31977, 17, 9, true, 4674}, {6210, 23, 2, false, 4674}, {5396, 26, 1, true, 4674},
	{2972, 22, 1, false, 4624}, {2975, 40, 1, true, 4627}, {5490, 20, 1, false, 5489},
	{28348, 48, 11, true, 4283}, {7846, 46, 14, true, 7844}, {6688, 51, 5, false, 6668},
}

// others are further projected systems.
var others = map[int]struct {
	name  string
	datum int
	kind  method
	parameters
}{
	3857: {"WGS 84 / Pseudo-Mercator", 4326, webMercator, parameters{scale: 1}},
	3395: {"WGS 84 / World Mercator", 4326, mercator, parameters{scale: 1}},
	2154: {"RGF93 v1 / Lambert-93", 4171, lambert2, parameters{46.5, 3, 49, 44, 1, 700000, 6600000}},
	3034: {"ETRS89-extended / LCC Europe", 4258, lambert2, parameters{52, 10, 35, 65, 1, 4000000, 2800000}},
	5070: {"NAD83 / Conus Albers", 4269, albers, parameters{23, -96, 29.5, 45.5, 1, 0, 0}},
	3577: {"GDA94 / Australian Albers", 4283, albers, parameters{0, 132, -18, -36, 1, 0, 0}},
	3005: {"NAD83 / BC Albers", 4269, albers, parameters{45, -126, 50, 58.5, 1, 1000000, 0}},
	2193: {"NZGD2000 / New Zealand Transverse Mercator 2000", 4167, transverseMercator,
		parameters{0, 173, 0, 0, 0.9996, 1600000, 10000000}},
}

// EPSG returns the system of an EPSG code, or an error for one that is not known.
func EPSG(code int) (*System, error) {
	if code == 900913 || code == 3785 || code == 102100 {
		code = 3857
	}
	if d, ok := datums[code]; ok {
		return geographic(code, d), nil
	}
	if o, ok := others[code]; ok {
		return projected(code, o.name, datums[o.datum], o.kind, o.parameters)
	}
	for _, z := range zones {
		if code >= z.first && code < z.first+z.count {
			return utm(code, (z.zone+code-z.first-1)%60+1, z.south, datums[z.datum])
		}
	}
	return nil, fmt.Errorf("the reference system EPSG:%d is not known here; known are longitude and latitude, web "+
		"Mercator, UTM and some national ones: reproject it, for example with gdalwarp -t_srs EPSG:4326", code)
}

// utm is the UTM zone of a datum.
func utm(code, zone int, south bool, d datum) (*System, error) {
	p := parameters{lon0: float64(zone*6 - 183), scale: 0.9996, east: 500000}
	side, grid := "N", "UTM"
	if south {
		side, p.north = "S", 10000000
	}
	if d.code == 4283 || d.code == 7844 {
		side, grid = "", "MGA"
	}
	return projected(code, fmt.Sprintf("%s / %s zone %d%s", d.name, grid, zone, side), d, transverseMercator, p)
}

// utmCode finds the code of a UTM zone of a datum, 0 for none.
func utmCode(zone int, south bool, d datum) int {
	for _, z := range zones {
		for i := range z.count {
			if z.datum == d.code && z.south == south && (z.zone+i-1)%60+1 == zone {
				return z.first + i
			}
		}
	}
	return 0
}
