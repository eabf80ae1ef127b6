// Package wkt converts between well-known text (OGC 06-103r4 and its dialects) and GeoJSON objects. The Lua
// module geo uses it. Begin reading at Parse and Format.
//
// It is written by hand because orb/encoding/wkt has neither altitudes (Z) nor measures (M). GeoJSON has no
// measures: they are kept in a member "measures", nested like the coordinates, with a number instead of each
// position.
package wkt

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// shape describes the coordinates of a type of geometry.
type shape struct {
	tag, typ string // in WKT and in GeoJSON
	depth    int    // of the lists around positions
}

var shapes = []shape{
	{"POINT", "Point", 0}, {"MULTIPOINT", "MultiPoint", 1}, {"LINESTRING", "LineString", 1},
	{"MULTILINESTRING", "MultiLineString", 2}, {"POLYGON", "Polygon", 2}, {"MULTIPOLYGON", "MultiPolygon", 3},
	{"GEOMETRYCOLLECTION", "GeometryCollection", -1},
}

// foreign lists the geometries of the standard that GeoJSON does not have.
var foreign = []string{"CIRCULARSTRING", "COMPOUNDCURVE", "CURVEPOLYGON", "MULTICURVE", "MULTISURFACE", "CURVE",
	"SURFACE", "POLYHEDRALSURFACE", "TIN", "TRIANGLE"}

// dimensions describes the numbers of a position; -1 is unknown.
type dimensions struct{ numbers, measure int }

var unknown = dimensions{-1, -1}

const deepest = 32 // collections inside one another

var srid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?i:SRID)\s*=([^;]*);`) })

// Parse reads one geometry. Without Z, M or ZM the numbers of a position decide: two, three with a height,
// four with a measure too. A prefix SRID=4326; is accepted. Empty points in a MULTIPOINT are dropped. It does
// not check that rings are closed.
func Parse(text string) (map[string]any, error) {
	r := &reader{text: text}
	if system := srid().FindStringSubmatch(text); system != nil {
		if number := strings.TrimSpace(system[1]); number != "4326" {
			return nil, fmt.Errorf("it is in the reference system %s, not in longitude and latitude of WGS 84 (4326)", number)
		}
		r.at = len(system[0])
	}
	g, err := r.geometry(0)
	if err == nil && r.peek() != 0 {
		err = r.wrong("the end")
	}
	return g, err
}

// reader parses a text.
type reader struct {
	text string
	at   int
}

func (r *reader) wrong(want string) error {
	got := "the end"
	if r.at < len(r.text) {
		got = fmt.Sprintf("%.12q", r.text[r.at:])
	}
	return fmt.Errorf("character %d should be %s, and is %s", r.at+1, want, got)
}

// take consumes the given characters and returns them.
func (r *reader) take(characters string) string {
	rest := r.text[r.at:]
	taken := rest[:len(rest)-len(strings.TrimLeft(rest, characters))]
	r.at += len(taken)
	return taken
}

// peek returns the next character after spaces, 0 at the end.
func (r *reader) peek() byte {
	if r.take(" \t\r\n"); r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// next consumes the given character, if it is next.
func (r *reader) next(character byte) bool {
	found := r.peek() == character
	if found {
		r.at++
	}
	return found
}

// word consumes letters if want accepts them, as capitals.
func (r *reader) word(want func(word string) bool) bool {
	r.peek()
	start := r.at
	if !want(strings.ToUpper(r.take("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))) {
		r.at = start
		return false
	}
	return true
}

// tag consumes the name of a geometry and its dimensions, attached or not.
func (r *reader) tag() (s shape, d dimensions, err error) {
	byName := map[string]dimensions{"": unknown, "Z": {3, -1}, "M": {3, 2}, "ZM": {4, 3}}
	name := ""
	found := r.word(func(word string) bool {
		name = word
		for _, s = range shapes {
			rest, prefixed := strings.CutPrefix(word, s.tag)
			if _, ok := byName[rest]; prefixed && ok {
				d = byName[rest]
				return true
			}
		}
		return false
	})
	if !found {
		for _, f := range foreign {
			if strings.HasPrefix(name, f) {
				return s, d, fmt.Errorf("GeoJSON has no %s", name)
			}
		}
		return s, d, r.wrong("a geometry such as POINT or POLYGON")
	}
	if d == unknown && r.word(func(word string) bool { name = word; return byName[word].numbers > 0 }) {
		d = byName[name]
	}
	return s, d, nil
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
	if p.measure >= 0 {
		g["measures"] = measures
	}
	return g, nil
}

// open consumes an opening bracket or EMPTY.
func (r *reader) open() (empty bool, err error) {
	if empty = r.word(func(word string) bool { return word == "EMPTY" }); !empty && !r.next('(') {
		err = r.wrong("( or EMPTY")
	}
	return empty, err
}

// list consumes items in brackets, or EMPTY for none.
func (r *reader) list(item func() error) error {
	if empty, err := r.open(); empty || err != nil {
		return err
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

// positions reads the coordinates of one geometry.
type positions struct {
	*reader
	dimensions
	multi bool // a list of points, each in brackets or not
}

// nested reads nested lists of positions, depth levels deep, and their measures.
func (p *positions) nested(depth int) (coordinates, measures any, err error) {
	if depth == 0 {
		return p.point()
	}
	list, marks := []any{}, []any{}
	err = p.list(func() error {
		read := func() (any, any, error) { return p.nested(depth - 1) }
		if next := p.peek(); depth == 1 && !(p.multi && (next == '(' || next == 'E' || next == 'e')) {
			read = p.position
		}
		c, m, err := read()
		if empty, ok := c.([]any); p.multi && ok && len(empty) == 0 {
			return err
		}
		list, marks = append(list, c), append(marks, m)
		return err
	})
	return list, marks, err
}

// point reads one position in brackets, or EMPTY.
func (p *positions) point() (coordinates, measure any, err error) {
	if empty, err := p.open(); empty || err != nil {
		return []any{}, []any{}, err
	}
	if coordinates, measure, err = p.position(); err == nil && !p.next(')') {
		err = p.wrong(")")
	}
	return coordinates, measure, err
}

// position reads one position; the first determines the dimensions.
func (p *positions) position() (coordinates, measure any, err error) {
	var numbers []any
	for len(numbers) < 4 {
		p.peek()
		start := p.at
		text := p.take("+-.0123456789eE")
		if text == "" {
			break
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(n, 0) {
			p.at = start
			return nil, nil, p.wrong("a number")
		}
		numbers = append(numbers, n)
	}
	if len(numbers) < 2 {
		return nil, nil, p.wrong("a number")
	}
	if p.dimensions == unknown {
		p.dimensions = []dimensions{{2, -1}, {3, -1}, {4, 3}}[len(numbers)-2]
	}
	if len(numbers) != p.numbers {
		return nil, nil, fmt.Errorf("the position that ends at character %d has %d numbers, not %d", p.at, len(numbers),
			p.numbers)
	}
	if at := p.measure; at >= 0 {
		return numbers[:at:at], numbers[at], nil
	}
	return numbers, nil, nil
}
