package geojson

import "fmt"

// depths are the nesting depths of coordinates: 0 is one position.
var depths = map[string]int{
	"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3,
}

// Geometry checks a geometry (RFC 7946 §3.1): its type, degrees within range, the
// length of lines, closed rings.
func Geometry(o map[string]any, opt Options) error { return opt.geometry(o, "") }

func (opt Options) geometry(o map[string]any, at string) error {
	kindOf, text := o["type"].(string)
	if kindOf == "GeometryCollection" {
		return opt.collection(o, at)
	}
	depth, ok := depths[kindOf]
	switch c, given := o["coordinates"]; {
	case !text:
		return fmt.Errorf("%sa geometry needs a type, such as Point or Polygon", at)
	case !ok:
		return fmt.Errorf("%s%q is not a GeoJSON geometry type", at, kindOf)
	case !given:
		return fmt.Errorf("%sa %s needs coordinates", at, kindOf)
	default:
		if err := opt.coordinates(c, depth, at+"coordinates"); err != nil {
			return err
		}
		if err := closure(kindOf, c, at+"coordinates"); err != nil {
			return err
		}
		return bbox(o, at)
	}
}

func (opt Options) collection(o map[string]any, at string) error {
	members, ok := o["geometries"].([]any)
	if !ok {
		return fmt.Errorf("%sa GeometryCollection needs geometries, a list", at)
	}
	for i, m := range members {
		where := fmt.Sprintf("%sgeometries[%d]", at, i+1)
		member, ok := m.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %s, not a geometry", where, kind(m))
		}
		if err := opt.geometry(member, where+": "); err != nil {
			return err
		}
	}
	return bbox(o, at)
}

func (opt Options) coordinates(v any, depth int, at string) error {
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%s is %s, not a list", at, kind(v))
	}
	if depth == 0 {
		return opt.position(list, at)
	}
	opt.Empty = false // lists must not contain empty positions
	for i, e := range list {
		if err := opt.coordinates(e, depth-1, fmt.Sprintf("%s[%d]", at, i+1)); err != nil {
			return err
		}
	}
	return nil
}

// position checks one [longitude, latitude, altitude?] in degrees and metres. More numbers are
// allowed (RFC 7946 §3.1.1), but more than four mean wrong nesting.
func (opt Options) position(list []any, at string) error {
	if len(list) == 0 && opt.Empty {
		return nil
	}
	if len(list) < 2 || len(list) > 4 {
		return fmt.Errorf("%s has %d numbers, needs longitude, latitude and optionally altitude", at, len(list))
	}
	for i, e := range list {
		f, ok := Number(e)
		if !ok {
			return fmt.Errorf("%s[%d] is %s, not a number", at, i+1, kind(e))
		}
		limit := map[int]float64{0: 180, 1: 90}[i]
		if i < 2 && !opt.AnyNumber && (f < -limit || f > limit) {
			hint := ""
			if i == 1 {
				hint = "; positions are [longitude, latitude]"
			}
			return fmt.Errorf("%s[%d] is %v, outside -%v to %v degrees%s", at, i+1, f, limit, limit, hint)
		}
	}
	return nil
}

// closure checks that lines have two positions and rings are closed.
func closure(kindOf string, c any, at string) error {
	list := c.([]any)
	switch kindOf {
	case "LineString":
		if len(list) == 1 {
			return fmt.Errorf("%s: a line needs two positions or more", at)
		}
	case "MultiLineString", "MultiPolygon":
		inner := map[string]string{"MultiLineString": "LineString", "MultiPolygon": "Polygon"}[kindOf]
		for i, e := range list {
			if err := closure(inner, e, fmt.Sprintf("%s[%d]", at, i+1)); err != nil {
				return err
			}
		}
	case "Polygon":
		for i, e := range list {
			if err := closed(e.([]any), fmt.Sprintf("%s[%d]", at, i+1)); err != nil {
				return err
			}
		}
	}
	return nil
}

func closed(ring []any, at string) error {
	if len(ring) < 4 {
		return fmt.Errorf("%s: a ring needs four positions or more, the last equal to the first; it has %d", at, len(ring))
	}
	first, last := ring[0].([]any), ring[len(ring)-1].([]any)
	same := len(first) == len(last)
	for i := 0; same && i < len(first); i++ {
		a, _ := Number(first[i])
		b, _ := Number(last[i])
		same = a == b
	}
	if !same {
		return fmt.Errorf("%s: the ring is not closed, its last position %v differs from its first %v", at, last, first)
	}
	return nil
}
