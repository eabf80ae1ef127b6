// Package geojson checks decoded GeoJSON (RFC 7946): maps, lists, numbers and strings. Its errors
// name the wrong coordinate with its path, counted from 1 as in Lua. Operations, the scripts'
// geometry functions and the local platform use it. Check checks any GeoJSON object, Geometry a
// geometry. Shape converts a checked object to a geometry of orb; Object and Text convert it back.
package geojson

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"transect/client/fault"
)

// Options relax a check.
type Options struct {
	// AnyNumber accepts any number as a coordinate, e.g. pixels or metres, instead of degrees only.
	AnyNumber bool
	// Empty accepts a Point without coordinates (POINT EMPTY).
	Empty bool
}

// Check checks a GeoJSON object: a geometry, a Feature or a FeatureCollection.
func Check(v any, opt Options) error {
	o, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("it is %s, not a GeoJSON object", kind(v))
	}
	switch o["type"] {
	case "Feature":
		return opt.feature(o, "")
	case "FeatureCollection":
		features, ok := o["features"].([]any)
		if !ok {
			return fmt.Errorf("a FeatureCollection needs features, a list")
		}
		for i, f := range features {
			at := fmt.Sprintf("features[%d]", i+1)
			object, ok := f.(map[string]any)
			if !ok || object["type"] != "Feature" {
				return fmt.Errorf("%s is not a Feature", at)
			}
			if err := opt.feature(object, at+": "); err != nil {
				return err
			}
		}
		return bbox(o, "")
	}
	return Geometry(o, opt)
}

// feature checks the required members of a Feature (RFC 7946 §3.2).
func (opt Options) feature(o map[string]any, at string) error {
	if id, given := o["id"]; given {
		_, number := Number(id)
		if _, text := id.(string); !text && !number {
			return fmt.Errorf("%sthe id is %s, not a string or a number", at, kind(id))
		}
	}
	properties, given := o["properties"]
	if _, object := properties.(map[string]any); !given || properties != nil && !object {
		return fmt.Errorf("%sa Feature needs properties, an object or null", at)
	}
	geometry, given := o["geometry"]
	if !given {
		return fmt.Errorf("%sa Feature needs a geometry, or null", at)
	}
	if geometry != nil {
		object, ok := geometry.(map[string]any)
		if !ok {
			return fmt.Errorf("%sthe geometry is %s, not an object", at, kind(geometry))
		}
		if err := opt.geometry(object, at); err != nil {
			return err
		}
	}
	return bbox(o, at)
}

// bbox checks the optional bounding box: west, south, east, north, or six
// numbers with heights (RFC 7946 §5).
func bbox(o map[string]any, at string) error {
	v, given := o["bbox"]
	if !given {
		return nil
	}
	list, ok := v.([]any)
	if !ok || len(list) != 4 && len(list) != 6 {
		return fault.Of(&fault.BoundingBoxError{}, "%sthe bbox needs 4 or 6 numbers", at)
	}
	box := make([]float64, len(list))
	for i, n := range list {
		if box[i], ok = Number(n); !ok {
			return fault.Of(&fault.BoundingBoxError{}, "%sbbox[%d] is %s, not a number", at, i+1, kind(n))
		}
	}
	return CheckBox(at+"bbox", box, 4, 6)
}

// CheckBox checks the numbers of a bounding box, if there is one: all lowest values, then all highest.
func CheckBox(name string, box []float64, sizes ...int) error {
	if box != nil && !slices.Contains(sizes, len(box)) {
		return fault.Of(&fault.BoundingBoxError{}, "%s: needs %d numbers, lowest values first, got %d", name, sizes[0],
			len(box))
	}
	for i, half := 1, len(box)/2; i < half; i++ { // a box may cross the date line
		if box[i] > box[i+half] {
			return fault.Of(&fault.BoundingBoxError{}, "%s: %v is above %v; the lowest values come first", name, box[i],
				box[i+half])
		}
	}
	return nil
}

// Number returns a finite number, however it was decoded.
func Number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// kind describes a value for messages.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("text %q", v)
	case bool:
		return fmt.Sprintf("boolean %t", v)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("number %v", v)
}
