package schema

import (
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/geojson"
	"transect/client/suggest"
)

// toSort accepts {attribute = 1}, or a list of such tables where the order of several attributes matters.
func toSort(v any) (any, error) {
	if s, ok := v.(Sort); ok {
		return s, nil
	}
	parts, isList := v.([]any)
	if !isList {
		parts = []any{v}
	}
	s := Sort{}
	for _, part := range parts {
		o, ok := AsObject(part)
		if !ok {
			return nil, mismatch("sort", v)
		}
		for _, attribute := range SortedKeys(o) {
			d, err := Type("integer").Check(o[attribute])
			if err != nil || d != int64(1) && d != int64(-1) {
				return nil, fault.Of(&fault.SearchError{}, "%s must be 1 (ascending) or -1 (descending), got %s", attribute,
					Describe(o[attribute]))
			}
			s = append(s, SortKey{attribute, int(d.(int64))})
		}
	}
	return s, nil
}

// Operators are the filter operators of the platform's searches.
var Operators = []string{"$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte", "$match", "$exists", "$and", "$or"}

var listOperators = []string{"$in", "$nin", "$and", "$or"}

// toFilter refuses unknown operators, which would match everything or nothing, and converts an
// empty table under $in, $nin, $and and $or to a list.
func toFilter(v any) (any, error) {
	o, _ := AsObject(v)
	out := make(map[string]any, len(o))
	for _, key := range SortedKeys(o) {
		if strings.HasPrefix(key, "$") && !slices.Contains(Operators, key) {
			hint := suggest.Hint(key, Operators)
			if hint == "" {
				hint = "the operators are " + strings.Join(Operators, " ")
			}
			return nil, fault.Of(&fault.SearchError{}, "no operator %s (%s)", key, hint)
		}
		if value, ok := AsObject(o[key]); ok && !strings.HasPrefix(key, "$") {
			for _, bare := range SortedKeys(value) {
				if operator := "$" + strings.TrimPrefix(bare, "_"); slices.Contains(Operators, operator) {
					return nil, fault.Of(&fault.SearchError{},
						`%s: %s is an operator only with its sign: write { %s = { ["%s"] = … } }`, key, bare, key, operator)
				}
			}
		}
		out[key] = o[key]
		var err error
		switch v := o[key].(type) {
		case Empty:
			if slices.Contains(listOperators, key) {
				out[key] = []any{}
			}
		case map[string]any:
			out[key], err = toFilter(v)
		case []any:
			list := slices.Clone(v)
			for i, e := range list {
				if object, ok := e.(map[string]any); ok && err == nil {
					list[i], err = toFilter(object)
				}
			}
			out[key] = list
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// toGeometry accepts GeoJSON only; its error names the wrong coordinate.
func toGeometry(v any) (any, error) { return toShape(v, geojson.Options{}) }

// toDrawing checks the form only: any number may be a coordinate.
func toDrawing(v any) (any, error) { return toShape(v, geojson.Options{AnyNumber: true}) }

func toShape(v any, opt geojson.Options) (any, error) {
	o, _ := AsObject(v)
	if err := geojson.Geometry(PlainGeoJSON(o).(map[string]any), opt); err != nil {
		if f := fault.Find(err); f != nil { // from the bounding box
			return nil, f
		}
		return nil, fault.Of(&fault.QueryError{}, "%w", err)
	}
	return o, nil
}

// Check checks the geometry like an argument of its type.
func (g Geometry) Check() error {
	_, err := toGeometry(map[string]any(g))
	return err
}

// PlainGeoJSON converts a GeoJSON object to the form of decoded JSON. Of its empty tables only
// properties becomes an object; null members of a Feature may be missing.
func PlainGeoJSON(v any) any {
	switch v := v.(type) {
	case Null:
		return nil
	case Empty:
		return []any{}
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = PlainGeoJSON(e)
		}
		return out
	}
	o, ok := AsObject(v)
	if !ok {
		return v
	}
	out := make(map[string]any, len(o))
	if o["type"] == "Feature" {
		out["geometry"], out["properties"] = nil, nil
	}
	for key, e := range o {
		if _, empty := e.(Empty); empty && key == "properties" {
			out[key] = map[string]any{}
		} else {
			out[key] = PlainGeoJSON(e)
		}
	}
	return out
}
