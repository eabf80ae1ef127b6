// Package wkt converts between well-known text (OGC 06-103r4 and its dialects)
// and GeoJSON objects. The Lua module geo is its caller. Begin reading at Parse
// and Format.
//
// It is written by hand because orb/encoding/wkt has neither altitudes (Z) nor
// measures (M). GeoJSON has no measures: they are kept in a member "measures",
// nested like the coordinates, with a number instead of each position.
package wkt

import (
	"fmt"
	"strings"
)

// shape is what the coordinates of a geometry are like.
type shape struct {
	tag, typ string // in WKT and in GeoJSON
	depth    int    // of the lists around positions
}

var shapes = []shape{
	{"POINT", "Point", 0}, {"MULTIPOINT", "MultiPoint", 1}, {"LINESTRING", "LineString", 1},
	{"MULTILINESTRING", "MultiLineString", 2}, {"POLYGON", "Polygon", 2}, {"MULTIPOLYGON", "MultiPolygon", 3},
	{"GEOMETRYCOLLECTION", "GeometryCollection", -1},
}

// foreign are the geometries of the standard that GeoJSON does not have.
var foreign = []string{"CIRCULARSTRING", "COMPOUNDCURVE", "CURVEPOLYGON", "MULTICURVE", "MULTISURFACE", "CURVE", "SURFACE", "POLYHEDRALSURFACE", "TIN", "TRIANGLE"}

const deepest = 32 // collections inside one another

// Parse reads one geometry. Without Z, M or ZM the numbers of a position decide:
// two, three with a height, four with a measure too. SRID=4326; may stand
// before. Points without a place in a MULTIPOINT are left out. Whether rings
// are closed is not asked.
func Parse(text string) (map[string]any, error) {
	r := &reader{text: text}
	if number, found := r.srid(); found && number != "4326" {
		return nil, fmt.Errorf("it is in the reference system %s, not in longitude and latitude of WGS 84 (4326)", number)
	}
	g, err := r.geometry(0)
	if err != nil {
		return nil, err
	}
	if r.space(); r.at < len(r.text) {
		return nil, r.wrong("the end")
	}
	return g, nil
}

// reader takes a text apart.
type reader struct {
	text string
	at   int
}

func (r *reader) wrong(want string) error {
	got := "the end"
	if r.at < len(r.text) {
		rest := []rune(r.text[r.at:min(r.at+64, len(r.text))])
		got = fmt.Sprintf("%q", string(rest[:min(12, len(rest))]))
	}
	return fmt.Errorf("character %d should be %s, and is %s", r.at+1, want, got)
}

func (r *reader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// next takes a sign off the text.
func (r *reader) next(sign byte) bool {
	r.space()
	if r.at < len(r.text) && r.text[r.at] == sign {
		r.at++
		return true
	}
	return false
}

// word takes letters off the text, as capitals.
func (r *reader) word() string {
	r.space()
	start := r.at
	for r.at < len(r.text) && (r.text[r.at]|0x20) >= 'a' && (r.text[r.at]|0x20) <= 'z' {
		r.at++
	}
	return strings.ToUpper(r.text[start:r.at])
}

// srid takes the reference system of EWKT off the text.
func (r *reader) srid() (number string, found bool) {
	if r.word() != "SRID" || !r.next('=') {
		r.at = 0
		return "", false
	}
	number, _, found = strings.Cut(r.text[r.at:], ";")
	if !found {
		r.at = 0
		return "", false
	}
	r.at += len(number) + 1
	return strings.TrimSpace(number), true
}

// dimensions is what the numbers of a position are; -1 for not said.
type dimensions struct{ numbers, measure int }

var unsaid = dimensions{-1, -1}

// tag takes the name of a geometry off the text, with its dimensions, attached
// or not.
func (r *reader) tag() (shape, dimensions, error) {
	r.space()
	start := r.at
	name := r.word()
	said := map[string]dimensions{"Z": {3, -1}, "M": {3, 2}, "ZM": {4, 3}}
	for _, s := range shapes {
		rest, ok := strings.CutPrefix(name, s.tag)
		if !ok {
			continue
		}
		if d, attached := said[rest]; attached {
			return s, d, nil
		}
		if rest != "" {
			continue
		}
		before := r.at
		if d, follows := said[r.word()]; follows {
			return s, d, nil
		}
		r.at = before
		return s, unsaid, nil
	}
	r.at = start
	for _, f := range foreign {
		if strings.HasPrefix(name, f) {
			return shape{}, unsaid, fmt.Errorf("GeoJSON has no %s", name)
		}
	}
	return shape{}, unsaid, r.wrong("a geometry such as POINT or POLYGON")
}

func (r *reader) geometry(depth int) (map[string]any, error) {
	if depth > deepest {
		return nil, fmt.Errorf("there are more than %d collections inside one another", deepest)
	}
	s, d, err := r.tag()
	if err != nil {
		return nil, err
	}
	if s.depth < 0 {
		members := []any{}
		err := r.list(func() error {
			g, err := r.geometry(depth + 1)
			members = append(members, g)
			return err
		})
		return map[string]any{"type": s.typ, "geometries": members}, err
	}
	p := positions{r, d, s.typ == "MultiPoint"}
	coordinates, measures, err := p.nested(s.depth)
	if err != nil {
		return nil, err
	}
	g := map[string]any{"type": s.typ, "coordinates": coordinates}
	if p.said.measure >= 0 {
		g["measures"] = measures
	}
	return g, nil
}

// list takes items in brackets off the text, or EMPTY for none.
func (r *reader) list(item func() error) error {
	if before := r.at; r.word() != "EMPTY" {
		r.at = before
		if !r.next('(') {
			return r.wrong("( or EMPTY")
		}
		for {
			if err := item(); err != nil {
				return err
			}
			if r.next(')') {
				return nil
			}
			if !r.next(',') {
				return r.wrong(", or )")
			}
		}
	}
	return nil
}
