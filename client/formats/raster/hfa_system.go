package raster

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"transect/client/formats/crs"
)

// Numbers of projections in Erdas Imagine files.
const (
	hfaDegrees = 0
	hfaUTM     = 1
)

// hfaProjections are the other supported projections, with the positions of their parameters.
var hfaProjections = map[int]struct {
	wkt        string
	parameters map[string]int
}{
	3: {"Albers_Conic_Equal_Area", map[string]int{"standard_parallel_1": 2, "standard_parallel_2": 3,
		"longitude_of_center": 4, "latitude_of_center": 5}},
	4: {"Lambert_Conformal_Conic_2SP", map[string]int{"standard_parallel_1": 2, "standard_parallel_2": 3,
		"central_meridian": 4, "latitude_of_origin": 5}},
	9:  {"Transverse_Mercator", map[string]int{"scale_factor": 2, "central_meridian": 4, "latitude_of_origin": 5}},
	11: {"Lambert_Azimuthal_Equal_Area", map[string]int{"longitude_of_center": 4, "latitude_of_center": 5}},
}

// hfaParameters are the projection and the datum of a layer.
type hfaParameters struct {
	number, zone int
	name         string
	values       []float64
	spheroid     string // as WKT
	datum        string
	shift        []float64 // from the datum to WGS 84, nil for none
}

// parameters reads the parameters of a layer; ok is false without any.
func (h *hfa) parameters(layer node) (p hfaParameters, ok bool) {
	n, ok := h.child(layer, "Eprj_ProParameters")
	if !ok {
		return p, false
	}
	f := h.fields(n)
	f.take(2)
	p.number = int(int32(f.word()))
	f.text()
	p.name, p.zone, p.values = f.text(), int(int32(f.word())), f.floats()
	if f.count(4) != 1 {
		return p, false
	}
	name, a, b := f.text(), f.float(), f.float()
	inverse := 0.0
	if a > b {
		inverse = a / (a - b)
	}
	p.spheroid = fmt.Sprintf("SPHEROID[%s,%s,%s]", quoted(name), decimal(a), decimal(inverse))
	if f.short || len(p.values) < 8 {
		return p, false
	}
	if n, ok = h.child(n, "Eprj_Datum"); ok {
		f = h.fields(n)
		p.datum = f.text()
		if kind := f.take(2); kind[0] == 0 { // by parameters, not by a grid
			p.shift = f.floats()
		}
	}
	return p, p.datum != ""
}

// helmert returns the shift in WKT, "" if it is absent or zero: then the datum determines it.
func (p *hfaParameters) helmert() string {
	if len(p.shift) < 7 {
		return ""
	}
	var text []string
	some := false
	for i, v := range p.shift[:7] {
		switch {
		case i == 6:
			v *= 1e6
		case i >= 3:
			v *= -180 / math.Pi * 3600
		}
		some = some || v != 0
		text = append(text, decimal(v))
	}
	if !some {
		return ""
	}
	return ",TOWGS84[" + strings.Join(text, ",") + "]"
}

// withShift adds the datum's shift to a text, because Esri's text cannot hold it.
func (p *hfaParameters) withShift(text string) string {
	helmert := p.helmert()
	at := strings.Index(text, "SPHEROID[")
	if helmert == "" || at < 0 || strings.Contains(text, "TOWGS84[") {
		return text
	}
	end := strings.IndexByte(text[at:], ']')
	if end < 0 {
		return text
	}
	return text[:at+end+1] + helmert + text[at+end+1:]
}

// datumName returns the datum's name in WKT; well reports whether GDAL knows it.
func (p *hfaParameters) datumName() (name string, well bool) {
	switch {
	case p.datum == "WGS 84":
		return "WGS_1984", true
	case strings.Contains(p.datum, "NAD27"):
		return "North_American_Datum_1927", true
	case strings.Contains(p.datum, "NAD83"):
		return "North_American_Datum_1983", true
	}
	return p.datum, false
}

// unshifted refuses a system whose datum differs from WGS 84 in a file with a shift of zeros: GDAL
// writes them when it does not know the shift.
func (p *hfaParameters) unshifted(s *crs.System) error {
	if _, well := p.datumName(); well || len(p.shift) < 7 || p.helmert() != "" || s.OnWGS84() {
		return nil
	}
	return fmt.Errorf("the file gives WGS 84 as the datum of %s, which is wrong", s)
}

// system returns the system of the parameters.
func (p *hfaParameters) system() (*crs.System, error) {
	name, _ := p.datumName()
	base := fmt.Sprintf(`GEOGCS[%s,DATUM[%s,%s%s],PRIMEM["Greenwich",0],UNIT["degree",%v]]`, quoted(p.datum), quoted(name),
		p.spheroid, p.helmert(), math.Pi/180)
	known, ok := hfaProjections[p.number]
	if p.number == hfaUTM {
		known, ok = hfaProjections[9], p.zone >= 1 && p.zone <= 60
	}
	text := base
	if p.number != hfaDegrees {
		if !ok {
			return nil, fmt.Errorf("the projection %q of the file is not supported", shortened(p.name))
		}
		text = fmt.Sprintf("PROJCS[%s,%s,PROJECTION[%s]", quoted(p.name), base, quoted(known.wkt))
		for name, at := range known.parameters {
			v := p.values[at]
			if name != "scale_factor" {
				v *= 180 / math.Pi
			}
			if p.number == hfaUTM {
				v = map[string]float64{"scale_factor": 0.9996, "central_meridian": float64(p.zone*6 - 183)}[name]
			}
			text += fmt.Sprintf(",PARAMETER[%s,%s]", quoted(name), decimal(v))
		}
		east, north := p.values[6], p.values[7]
		if p.number == hfaUTM {
			if east, north = 500000, 0; p.values[3] < 0 {
				north = 10000000
			}
		}
		text += fmt.Sprintf(`,PARAMETER["false_easting",%s],PARAMETER["false_northing",%s],UNIT["metre",1]]`,
			decimal(east), decimal(north))
	}
	s, err := crs.FromWKT(text)
	if err == nil {
		err = p.unshifted(s)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func quoted(text string) string { return `"` + strings.ReplaceAll(shortened(text), `"`, "'") + `"` }

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
