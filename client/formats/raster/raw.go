package raster

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"transect/client/formats/crs"
)

// OpenENVI reads the header of an ENVI file, whose pixels are in another file. undrawn is why they
// cannot be drawn.
func OpenENVI(header string, undrawn error) (*Raster, error) {
	e := enviOf(header)
	width, _ := strconv.ParseInt(e["samples"], 10, 64)
	height, _ := strconv.ParseInt(e["lines"], 10, 64)
	bands := int64(1)
	if text, ok := e["bands"]; ok {
		bands, _ = strconv.ParseInt(text, 10, 64)
	}
	if err := sized(width, height, bands); err != nil {
		return nil, err
	}
	g := unplaced
	if info, ok := e["map info"]; ok {
		g = e.georeference(listOf(info))
	}
	return headed(int(width), int(height), int(bands), g, undrawn), nil
}

// envi holds the fields of a header by their names in lower case.
type envi map[string]string

func enviOf(text string) envi {
	e := envi{}
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		name, value, ok := strings.Cut(line, "=")
		if value = strings.TrimSpace(value); strings.HasPrefix(value, "{") { // continued on the following lines up to }
			value, rest, _ = strings.Cut(text[strings.IndexByte(text, '{')+1:], "}")
		}
		name = strings.Join(strings.Fields(strings.ToLower(name)), " ")
		if _, repeated := e[name]; ok && !repeated {
			e[name] = strings.TrimSpace(value)
		}
		text = rest
	}
	return e
}

// listOf splits a list and trims the spaces around its words.
func listOf(text string) []string {
	words := strings.Split(text, ",")
	for i, word := range words {
		words[i] = strings.TrimSpace(word)
	}
	return words
}

// georeference parses a map info: projection, reference pixel counted from 1, its easting and
// northing, size of the pixels, for UTM the zone and its hemisphere, the datum, and words such as
// units=Meters.
func (e envi) georeference(info []string) georeference {
	g := unplaced
	g.noTransform = errors.New("the position of the raster, its map info, is damaged")
	if len(info) < 7 {
		return g
	}
	var v [7]float64
	for i := 1; i < len(v); i++ {
		var err error
		if v[i], err = strconv.ParseFloat(info[i], 64); err != nil {
			return g
		}
	}
	words := map[string]string{}
	for _, word := range info[7:] {
		if name, value, ok := strings.Cut(word, "="); ok {
			words[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	var turn float64
	if text, ok := words["rotation"]; ok {
		var err error
		if turn, err = strconv.ParseFloat(text, 64); err != nil {
			return g
		}
	}
	if turn != 0 && (v[1] != 1 || v[2] != 1) {
		g.noTransform = errors.New("the raster is not north up: rectify it, for example with gdalwarp")
		return g
	}
	sin, cos := math.Sincos(turn * math.Pi / 180)
	g.to = affine{v[3] - (v[1]-1)*v[5], v[5] * cos, v[5] * sin, v[4] + (v[2]-1)*v[6], v[6] * sin, -v[6] * cos}
	g.noTransform = nil
	if g.system, g.noSystem = e.system(info); g.noSystem == nil {
		g.noSystem = sameUnit(g.system, words["units"], max(math.Abs(v[3]), math.Abs(v[4])))
	}
	return g
}

// enviDatums are the supported datums of map infos, by their names in capitals.
var enviDatums = map[string]string{"WGS-84": "WGS_1984", "NORTH AMERICA 1983": "North_American_Datum_1983",
	"NORTH AMERICA 1927": "North_American_Datum_1927", "EUROPEAN 1950": "European_Datum_1950"}

// system returns the reference system: from the text that names it, else from the map info, if it
// is UTM or longitude and latitude.
func (e envi) system(info []string) (*crs.System, error) {
	if text := e["coordinate system string"]; text != "" {
		return crs.FromWKT(text)
	}
	projection, rest := strings.ToUpper(info[0]), info[7:]
	zone, side, datum := 0, "", ""
	switch {
	case projection == "ARBITRARY":
		return nil, crs.ErrNoSystem
	case projection == "UTM" && len(rest) >= 3:
		zone, _ = strconv.Atoi(rest[0])
		side, datum = strings.ToUpper(rest[1]), rest[2]
	case strings.HasPrefix(projection, "GEOGRAPHIC LAT") && len(rest) >= 1:
		datum = rest[0]
	}
	known := enviDatums[strings.ToUpper(datum)]
	if known == "" || projection == "UTM" && (zone < 1 || zone > 60 || side != "NORTH" && side != "SOUTH") {
		return nil, fmt.Errorf("the reference system {%s} of its map info is unknown",
			shortened(strings.Join(append([]string{info[0]}, rest...), ", ")))
	}
	text := fmt.Sprintf(`GEOGCS["%s",DATUM["%s"],PRIMEM["Greenwich",0],UNIT["degree",%v]]`, known, known, math.Pi/180)
	if projection == "UTM" {
		north := map[string]int{"SOUTH": 10000000}[side]
		text = fmt.Sprintf(`PROJCS["UTM zone %d",%s,PROJECTION["Transverse_Mercator"],PARAMETER["central_meridian",%d],`+
			`PARAMETER["scale_factor",0.9996],PARAMETER["false_easting",500000],PARAMETER["false_northing",%d],UNIT["metre",1]]`,
			zone, text, zone*6-183, north)
	}
	return crs.FromWKT(text)
}

// sameUnit refuses coordinates, of a size, in another unit than their system's. GDAL has one kind
// of feet, so differences below a metre are accepted.
func sameUnit(s *crs.System, unit string, size float64) error {
	lengths := map[string]float64{"meters": 1, "feet": 0.3048, "km": 1000, "yards": 0.9144, "miles": 1609.344,
		"nautical miles": 1852}
	length, _ := s.Metres(0)
	switch unit = strings.ToLower(unit); {
	case unit == "", unit == "degrees" && s.Geographic, !s.Geographic && math.Abs(lengths[unit]-length)*size < 1:
		return nil
	}
	return fmt.Errorf("the position of the raster is in %s, not in the unit of %s", shortened(unit), s)
}

// OpenEHdr reads the header of an Esri raster (BIL, BIP, BSQ, FLT), whose pixels are in another
// file. undrawn is why they cannot be drawn.
func OpenEHdr(header string, undrawn error) (*Raster, error) {
	words := map[string]string{}
	for line := range strings.Lines(header) {
		if f := strings.Fields(line); len(f) >= 2 {
			words[strings.ToLower(f[0])] = f[1]
		}
	}
	var damaged error
	number := func(otherwise float64, names ...string) (v float64, given bool) {
		for _, name := range names {
			text, ok := words[name]
			if !ok {
				continue
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				damaged = fmt.Errorf("the header of the raster is damaged: %s is %q", name, shortened(text))
			}
			return v, true
		}
		return otherwise, false
	}
	width, _ := number(0, "ncols")
	height, _ := number(0, "nrows")
	bands, _ := number(1, "nbands")
	dx, given := number(1, "xdim", "cellsize")
	dy, _ := number(1, "ydim", "cellsize")
	x, left := number(0, "ulxmap", "xllcorner", "xllcenter")
	y, top := number(0, "ulymap")
	bottom, low := number(0, "yllcorner", "yllcenter")
	if damaged != nil {
		return nil, damaged
	}
	if err := sized(int64(width), int64(height), int64(bands)); err != nil {
		return nil, err
	}
	g := unplaced
	if left && given && (top || low) {
		if low {
			y = bottom + (height-1)*dy
		}
		_, corner := words["xllcorner"]
		if _, other := words["yllcorner"]; corner || other { // otherwise the centre of a pixel
			x, y = x+dx/2, y+dy/2
		}
		g.to, g.noTransform = affine{x - dx/2, dx, 0, y + dy/2, 0, -dy}, nil
	}
	return headed(int(width), int(height), int(bands), g, undrawn), nil
}
