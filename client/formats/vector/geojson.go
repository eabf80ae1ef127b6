package vector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"

	"transect/client/formats/crs"
	"transect/client/formats/source"
)

// openGeoJSON reads GeoJSON (RFC 7946), also several concatenated texts, with the member crs of its
// first version.
func openGeoJSON(ctx context.Context, f File) (*Layer, error) {
	l := &Layer{Format: "geojson", System: crs.WGS84}
	var found bool
	l.each = func(ctx context.Context, _ bool, visit visitor) error {
		return eachGeoJSON(ctx, f, visit, func(string) {})
	}
	system := func(name string) {
		l.System, l.Problem = nil, ""
		s, err := systemNamed(name)
		if l.System = s; err != nil {
			l.Problem = err.Error()
		}
	}
	// The first feature determines whether it is GeoJSON.
	err := eachGeoJSON(ctx, f, func(orb.Geometry, json.RawMessage) error { found = true; return io.EOF }, system)
	if found && err == io.EOF {
		if err = nil; containsSystem(f.Reader(ctx)) { // it may follow the features
			err = eachGeoJSON(ctx, f, nil, system)
		}
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// containsSystem reports whether a text has a member crs, at any depth.
func containsSystem(r io.Reader) bool {
	const name = `"crs"`
	b := make([]byte, 256<<10)
	kept := 0
	for {
		n, err := r.Read(b[kept:])
		if n += kept; bytes.Contains(b[:n], []byte(name)) {
			return true
		}
		if err != nil {
			return false
		}
		kept = copy(b, b[max(0, n-len(name)):n])
	}
}

// systemNamed returns the system for a name like urn:ogc:def:crs:EPSG::25832.
func systemNamed(name string) (*crs.System, error) {
	upper := strings.ToUpper(name)
	if strings.HasSuffix(upper, "CRS84") {
		return crs.WGS84, nil
	}
	code, err := strconv.Atoi(upper[strings.LastIndexByte(upper, ':')+1:])
	if err != nil || !strings.Contains(upper, "EPSG") {
		return nil, fmt.Errorf("the reference system %.60q is not known", name)
	}
	return crs.EPSG(code)
}

// eachGeoJSON visits the shapes of a file, if visit is not nil, and the name of the reference system.
func eachGeoJSON(ctx context.Context, f File, visit visitor, system func(name string)) error {
	d, limited := source.JSON(f.Reader(ctx))
	read := func(err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case limited.Err != nil:
			return limited.Err
		case errors.Is(err, io.ErrUnexpectedEOF):
			return source.ErrTruncated
		}
		return fmt.Errorf("not valid JSON: %w", err)
	}
	for n := 0; ; n++ {
		switch kind := d.PeekKind(); {
		case kind == '{':
		case kind == 0 && n > 0:
			_, err := d.ReadToken()
			if err == io.EOF {
				return nil
			}
			return read(err)
		default:
			return source.ErrOther
		}
		_, _ = d.ReadToken()
		members := map[string]jsontext.Value{}
		listed := false
		for d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return read(err)
			}
			key := name.String()
			if key == "features" && d.PeekKind() == '[' {
				listed = true
				_, _ = d.ReadToken()
				for d.PeekKind() == '{' {
					value, err := d.ReadValue()
					if err != nil {
						return read(err)
					}
					if visit == nil {
						continue
					}
					if err := visitFeature(value, visit); err != nil {
						return err
					}
				}
				if token, err := d.ReadToken(); err != nil || token.Kind() != ']' {
					return read(orNotFeature(err))
				}
				continue
			}
			switch key {
			case "type", "geometry", "coordinates", "geometries", "crs", "properties":
				value, err := d.ReadValue()
				if err != nil {
					return read(err)
				}
				members[key] = value.Clone()
				if key == "crs" {
					var named struct{ Properties struct{ Name string } }
					if json.Unmarshal(value, &named) == nil && named.Properties.Name != "" {
						system(named.Properties.Name)
					}
				}
			default:
				if err := d.SkipValue(); err != nil {
					return read(err)
				}
			}
		}
		if _, err := d.ReadToken(); err != nil {
			return read(err)
		}
		if listed || visit == nil {
			continue
		}
		var text []byte
		switch {
		case members["geometry"] != nil:
			text = members["geometry"]
		case members["coordinates"] != nil || members["geometries"] != nil:
			text, _ = json.Marshal(map[string]json.RawMessage{"type": json.RawMessage(members["type"]),
				"coordinates": orNull(members["coordinates"]), "geometries": orNull(members["geometries"])})
		default:
			return source.ErrOther
		}
		if err := visitGeometry(text, json.RawMessage(members["properties"]), visit); err != nil {
			return err
		}
	}
}

func orNotFeature(err error) error {
	if err == nil {
		err = errors.New("a feature is not an object")
	}
	return err
}

func orNull(v jsontext.Value) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return json.RawMessage(v)
}

func visitFeature(text []byte, visit visitor) error {
	var feature struct{ Geometry, Properties json.RawMessage }
	if err := json.Unmarshal(text, &feature); err != nil {
		return fmt.Errorf("a feature cannot be read: %w", err)
	}
	return visitGeometry(feature.Geometry, feature.Properties, visit)
}

func visitGeometry(text []byte, properties json.RawMessage, visit visitor) error {
	if len(properties) == 0 || properties[0] != '{' {
		properties = nil
	}
	if len(text) == 0 || string(text) == "null" {
		return visit(nil, properties)
	}
	g, err := geometryOf(text, 0)
	if err != nil {
		return fmt.Errorf("a geometry cannot be read: %w", err)
	}
	return visit(g, properties)
}

// geometryOf parses a geometry. (orb's parser does not limit nested collections.)
func geometryOf(text []byte, depth int) (orb.Geometry, error) {
	var g struct {
		Type        string
		Coordinates json.RawMessage
		Geometries  []json.RawMessage
	}
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, err
	}
	switch g.Type {
	case "Point":
		return coordinates[orb.Point](g.Coordinates)
	case "MultiPoint":
		return coordinates[orb.MultiPoint](g.Coordinates)
	case "LineString":
		return coordinates[orb.LineString](g.Coordinates)
	case "MultiLineString":
		return coordinates[orb.MultiLineString](g.Coordinates)
	case "Polygon":
		return coordinates[orb.Polygon](g.Coordinates)
	case "MultiPolygon":
		return coordinates[orb.MultiPolygon](g.Coordinates)
	case "GeometryCollection":
		if depth > maxNesting {
			return nil, errors.New("its collections are nested too deeply")
		}
		var all orb.Collection
		for _, member := range g.Geometries {
			m, err := geometryOf(member, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, m)
		}
		return all, nil
	}
	return nil, fmt.Errorf("%.40q is not a type of GeoJSON", g.Type)
}

func coordinates[G orb.Geometry](text []byte) (orb.Geometry, error) {
	var g G
	if len(text) == 0 || string(text) == "null" || string(text) == "[]" {
		return nil, nil
	}
	err := json.Unmarshal(text, &g)
	return g, err
}
