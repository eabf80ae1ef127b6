package declare

import (
	"fmt"

	"transect/client/fault"
)

// checkGeometry refuses what is no GeoJSON geometry (RFC 7946 §3.1), saying
// which coordinate is wrong. The interface calls that error QueryError.
func checkGeometry(t *Type, v any) (any, error) {
	o, ok := asObject(v)
	if !ok {
		return nil, wrong(t, v)
	}
	return o, Geometry(o).Check()
}

// Check is the check an argument of this type goes through.
func (g Geometry) Check() error { return malformed(geometry(g, "", true)) }

// checkDrawing checks the form alone: any number may be a coordinate.
func checkDrawing(t *Type, v any) (any, error) {
	o, ok := asObject(v)
	if !ok {
		return nil, wrong(t, v)
	}
	return o, malformed(geometry(o, "", false))
}

func malformed(err error) error {
	if err == nil {
		return nil
	}
	return fault.Of(&fault.QueryError{}, "%w", err)
}

// depths of the coordinates of each geometry type: 0 is one position.
var depths = map[string]int{
	"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3,
}

// geometry checks the form, and with degrees that positions lie on the globe.
func geometry(o map[string]any, at string, degrees bool) error {
	kindOf, _ := o["type"].(string)
	if kindOf == "GeometryCollection" {
		members, ok := o["geometries"].([]any)
		if !ok {
			if _, empty := o["geometries"].(Empty); empty {
				return nil
			}
			return fmt.Errorf("%sa GeometryCollection needs geometries, a list", at)
		}
		for i, m := range members {
			member, ok := asObject(m)
			if !ok {
				return fmt.Errorf("%sgeometries[%d] is %s, not a geometry", at, i+1, kind(m))
			}
			if err := geometry(member, fmt.Sprintf("%sgeometries[%d]: ", at, i+1), degrees); err != nil {
				return err
			}
		}
		return nil
	}
	depth, known := depths[kindOf]
	if !known {
		if kindOf == "" {
			return fmt.Errorf("%sa geometry needs a type, such as Point or Polygon", at)
		}
		return fmt.Errorf("%s%q is not a GeoJSON geometry type", at, kindOf)
	}
	c, ok := o["coordinates"]
	if !ok {
		return fmt.Errorf("%sa %s needs coordinates", at, kindOf)
	}
	if err := coordinates(c, depth, at+"coordinates", degrees); err != nil {
		return err
	}
	return closure(kindOf, c, at+"coordinates")
}

func coordinates(v any, depth int, at string, degrees bool) error {
	if _, empty := v.(Empty); empty && depth > 0 {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%s is %s, not a list", at, kind(v))
	}
	if depth == 0 {
		return position(list, at, degrees)
	}
	for i, e := range list {
		if err := coordinates(e, depth-1, fmt.Sprintf("%s[%d]", at, i+1), degrees); err != nil {
			return err
		}
	}
	return nil
}

// position checks one [longitude, latitude, altitude?] in degrees and metres.
func position(list []any, at string, degrees bool) error {
	if len(list) < 2 || len(list) > 4 {
		return fmt.Errorf("%s has %d numbers, wants longitude, latitude and perhaps altitude", at, len(list))
	}
	for i, e := range list {
		n, err := checkNumber(numberKind, e)
		if err != nil {
			return fmt.Errorf("%s[%d] is %s, not a number", at, i+1, kind(e))
		}
		limit := map[int]float64{0: 180, 1: 90}[i]
		if f := n.(float64); degrees && i < 2 && (f < -limit || f > limit) {
			hint := ""
			if i == 1 {
				hint = "; positions are [longitude, latitude]"
			}
			return fmt.Errorf("%s[%d] is %v, outside -%v to %v degrees%s", at, i+1, f, limit, limit, hint)
		}
	}
	return nil
}

// closure checks that lines are long enough and rings closed.
func closure(kindOf string, c any, at string) error {
	list, ok := c.([]any)
	if !ok {
		return nil // an empty one
	}
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
			ring, _ := e.([]any)
			where := fmt.Sprintf("%s[%d]", at, i+1)
			if len(ring) < 4 {
				return fmt.Errorf("%s: a ring needs four positions or more, the last equal to the first; it has %d", where, len(ring))
			}
			if !samePosition(ring[0], ring[len(ring)-1]) {
				return fmt.Errorf("%s: the ring is not closed, its last position %v differs from its first %v", where, ring[len(ring)-1], ring[0])
			}
		}
	}
	return nil
}

func samePosition(a, b any) bool {
	p, q := a.([]any), b.([]any)
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		x, _ := checkNumber(numberKind, p[i])
		y, _ := checkNumber(numberKind, q[i])
		if x != y {
			return false
		}
	}
	return true
}
