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
)

// maxDepth limits how deep elements may be inside one another.
const maxDepth = 200

// elements walks an XML text. The texts within an element come before its end.
func elements(ctx context.Context, f File, begin func(xml.StartElement) error, text func([]byte) error, end func(name string) error) error {
	d := xml.NewDecoder(f.Reader(ctx))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // coordinates are ASCII
	d.Strict = false
	depth := 0
	for {
		token, err := d.RawToken()
		switch {
		case err == io.EOF && depth > 0, errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("it is cut short")
		case err == io.EOF:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("it is not valid XML: %w", err)
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

// eachKML visits the placemarks of a KML text (OGC 12-007r2).
func eachKML(f File) func(context.Context, func(orb.Geometry) error) error {
	return func(ctx context.Context, visit func(orb.Geometry) error) error {
		var (
			shapes      orb.Collection
			polygon     orb.Polygon
			inside      bool // of coordinates
			coordinates strings.Builder
		)
		return elements(ctx, f, func(e xml.StartElement) error {
			switch e.Name.Local {
			case "Placemark":
				shapes = nil
			case "Polygon":
				polygon = nil
			case "coordinates", "coord":
				inside = true
				coordinates.Reset()
			}
			return nil
		}, func(b []byte) error {
			if inside {
				if coordinates.Len()+len(b) > maxPositions*16 {
					return errLong
				}
				coordinates.Write(b)
			}
			return nil
		}, func(name string) error {
			switch name {
			case "coordinates":
				inside = false
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
				if len(shapes) == 1 {
					return visit(shapes[0])
				} else if len(shapes) == 0 {
					return visit(nil)
				}
				return visit(shapes)
			}
			return nil
		})
	}
}

// tuples reads "longitude,latitude,altitude" separated by spaces.
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
func eachGPX(f File) func(context.Context, func(orb.Geometry) error) error {
	return func(ctx context.Context, visit func(orb.Geometry) error) error {
		var line orb.LineString
		var track orb.MultiLineString
		return elements(ctx, f, func(e xml.StartElement) error {
			switch e.Name.Local {
			case "trk":
				track = nil
			case "trkseg", "rte":
				line = nil
			case "wpt", "trkpt", "rtept":
				p, err := latLon(e)
				if err != nil {
					return err
				}
				if e.Name.Local == "wpt" {
					return visit(p)
				}
				if line = append(line, p); len(line) > maxPositions {
					return errLong
				}
			}
			return nil
		}, func([]byte) error { return nil }, func(name string) error {
			switch name {
			case "trkseg":
				track = append(track, line)
			case "trk":
				return visit(track)
			case "rte":
				return visit(line)
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
