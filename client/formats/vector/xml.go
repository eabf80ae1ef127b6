package vector

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"transect/client/formats/source"
)

// maxDepth limits the nesting of elements.
const maxDepth = 200

// elements walks an XML text. The texts within an element precede its end.
func elements(ctx context.Context, f File, begin func(xml.StartElement) error, text func([]byte) error,
	end func(name string) error) error {
	taken := int64(0)
	limited := source.NewBounded(f.Reader(ctx), func() int64 { return taken })
	d := xml.NewDecoder(limited)
	d.CharsetReader = func(name string, r io.Reader) (io.Reader, error) {
		if page := charmapOf(name); page != nil {
			return page.NewDecoder().Reader(r), nil
		}
		return r, nil // coordinates are ASCII
	}
	d.Strict = false
	depth := 0
	for {
		token, err := d.RawToken()
		taken = d.InputOffset()
		switch {
		case limited.Err != nil:
			return limited.Err
		case err == io.EOF && depth > 0, errors.Is(err, io.ErrUnexpectedEOF):
			return source.ErrTruncated
		case err == io.EOF:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("not valid XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return errors.New("it is nested too deeply")
			}
			err = begin(t)
		case xml.CharData:
			err = text(t)
		case xml.EndElement:
			depth--
			err = end(t.Name.Local)
		}
		if err != nil {
			return err
		}
	}
}

// collected is the text of a relevant element, from its start to its end.
type collected struct {
	strings.Builder
	on bool
}

func (c *collected) begin() { c.Reset(); c.on = true }

// take appends a text, truncated to the maximum length.
func (c *collected) take(b []byte) {
	if c.on && c.Len() < maxText {
		c.Write(b)
	}
}

// eachKML visits the placemarks of a KML text (OGC 12-007r2).
func eachKML(f File) func(context.Context, bool, visitor) error {
	return func(ctx context.Context, _ bool, visit visitor) error {
		var (
			shapes      orb.Collection
			polygon     orb.Polygon
			track       orb.LineString
			inside      bool // of coordinates
			coordinates strings.Builder
			within      string // the element that holds name, description or value
			text        collected
			key         string // of a value of the extended data
			attributes  attributeList
		)
		return elements(ctx, f, func(e xml.StartElement) error {
			switch name := e.Name.Local; name {
			case "Placemark":
				shapes, attributes = nil, attributeList{}
				within = name
			case "Polygon":
				polygon = nil
			case "Track":
				track = nil
			case "coordinates", "coord":
				inside = true
				coordinates.Reset()
			case "name", "description", "address", "value":
				if within != "" {
					text.begin()
				}
			case "Data", "SimpleData":
				key = attribute(e, "name")
				text.begin()
			}
			return nil
		}, func(b []byte) error {
			text.take(b)
			if inside {
				if coordinates.Len()+len(b) > maxPositions*16 {
					return errLong
				}
				coordinates.Write(b)
			}
			return nil
		}, func(name string) error {
			switch name {
			case "name", "description", "address":
				if text.on {
					attributes.add(name, text.String())
				}
				text.on = false
			case "value", "SimpleData":
				if text.on {
					attributes.add(key, text.String())
				}
				text.on = false
			case "coordinates":
				inside = false
			case "coord": // of a gx:Track: longitude, latitude and height between spaces
				inside = false
				if numbers := strings.Fields(coordinates.String()); len(numbers) >= 2 {
					line, err := tuples(strings.Join(numbers, ","))
					if err != nil {
						return err
					}
					if track = append(track, line...); len(track) > maxPositions {
						return errLong
					}
				}
			case "Track":
				if len(track) > 0 {
					shapes = append(shapes, track)
				}
			case "Point", "LineString", "LinearRing":
				line, err := tuples(coordinates.String())
				coordinates.Reset()
				switch {
				case err != nil:
					return err
				case name == "Point" && len(line) > 0:
					shapes = append(shapes, line[0])
				case name == "LineString":
					shapes = append(shapes, orb.LineString(line))
				case name == "LinearRing":
					polygon = append(polygon, orb.Ring(line))
				}
			case "Polygon":
				shapes = append(shapes, polygon)
				polygon = nil
			case "Placemark":
				within = ""
				switch len(shapes) {
				case 0:
					return visit(nil, attributes.object())
				case 1:
					return visit(shapes[0], attributes.object())
				}
				return visit(shapes, attributes.object())
			}
			return nil
		})
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// tuples parses "longitude,latitude,altitude" separated by spaces.
func tuples(text string) (line []orb.Point, err error) {
	for tuple := range strings.FieldsSeq(text) {
		lon, rest, _ := strings.Cut(tuple, ",")
		lat, _, _ := strings.Cut(rest, ",")
		x, err1 := strconv.ParseFloat(lon, 64)
		y, err2 := strconv.ParseFloat(lat, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("%.40q is not a longitude and latitude", tuple)
		}
		line = append(line, orb.Point{x, y})
	}
	return line, nil
}

// eachGPX visits the waypoints, routes and tracks of a GPX text.
func eachGPX(f File) func(context.Context, bool, visitor) error {
	return func(ctx context.Context, _ bool, visit visitor) error {
		var (
			point      orb.Point
			line       orb.LineString
			track      orb.MultiLineString
			within     string // the feature that texts belong to: wpt, rte or trk
			text       collected
			attributes attributeList
		)
		return elements(ctx, f, func(e xml.StartElement) error {
			switch name := e.Name.Local; name {
			case "trk", "rte":
				track, line, within, attributes = nil, nil, name, attributeList{}
			case "trkseg":
				line = nil
			case "wpt", "trkpt", "rtept":
				p, err := latLon(e)
				if err != nil {
					return err
				}
				if name == "wpt" {
					point, within, attributes = p, name, attributeList{}
					return nil
				}
				within = "" // its texts belong to a position
				if line = append(line, p); len(line) > maxPositions {
					return errLong
				}
			case "name", "desc", "cmt", "type", "sym", "ele", "time":
				if within != "" {
					text.begin()
				}
			}
			return nil
		}, func(b []byte) error {
			text.take(b)
			return nil
		}, func(name string) error {
			switch name {
			case "name", "desc", "cmt", "type", "sym", "ele", "time":
				if height, err := strconv.ParseFloat(strings.TrimSpace(text.String()), 64); text.on && name == "ele" && err == nil {
					attributes.add(name, height)
				} else if text.on {
					attributes.add(name, text.String())
				}
				text.on = false
			case "trkpt":
				within = "trk"
			case "rtept":
				within = "rte"
			case "trkseg":
				track = append(track, line)
			case "trk", "rte", "wpt":
				within = ""
				switch name {
				case "trk":
					return visit(track, attributes.object())
				case "rte":
					return visit(line, attributes.object())
				}
				return visit(point, attributes.object())
			}
			return nil
		})
	}
}

func latLon(e xml.StartElement) (p orb.Point, err error) {
	given := 0
	for _, a := range e.Attr {
		if i := strings.Index("lon lat", a.Name.Local) / 4; a.Name.Local == "lon" || a.Name.Local == "lat" {
			if p[i], err = strconv.ParseFloat(strings.TrimSpace(a.Value), 64); err != nil {
				return p, fmt.Errorf("%.40q is not a %s", a.Value, a.Name.Local)
			}
			given++
		}
	}
	if given < 2 {
		return p, fmt.Errorf("a %s has no lon and lat", e.Name.Local)
	}
	return p, nil
}
