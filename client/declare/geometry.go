package declare

import (
	"transect/client/fault"
	"transect/client/geojson"
)

// checkGeometry refuses what is no GeoJSON geometry, saying which coordinate
// is wrong. The interface calls that error QueryError.
func checkGeometry(t *Type, v any) (any, error) {
	return checkShape(t, v, geojson.Options{})
}

// checkDrawing checks the form alone: any number may be a coordinate.
func checkDrawing(t *Type, v any) (any, error) {
	return checkShape(t, v, geojson.Options{AnyNumber: true})
}

func checkShape(t *Type, v any, opt geojson.Options) (any, error) {
	o, ok := asObject(v)
	if !ok {
		return nil, wrong(t, v)
	}
	return o, malformed(geojson.Geometry(bare(o).(map[string]any), opt))
}

// Check is the check an argument of this type goes through.
func (g Geometry) Check() error {
	return malformed(geojson.Geometry(bare(map[string]any(g)).(map[string]any), geojson.Options{}))
}

func malformed(err error) error {
	if err == nil {
		return nil
	}
	return fault.Of(&fault.QueryError{}, "%w", err)
}

// bare gives a value as decoded JSON has it. An empty table is a list here:
// nothing of a geometry is an empty object.
func bare(v any) any {
	if o, ok := asObject(v); ok {
		if _, empty := v.(Empty); empty {
			return []any{}
		}
		out := make(map[string]any, len(o))
		for key, e := range o {
			out[key] = bare(e)
		}
		return out
	}
	if list, ok := v.([]any); ok {
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = bare(e)
		}
		return out
	}
	return v
}
