package analytic

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Check checks a value against a JSON Schema. The error contains the path of the value.
//
// It supports the keywords that analytics use: type, enum, pattern, minimum, maximum, the lengths, items,
// properties, additionalProperties and required. It is written by hand because santhosh-tekuri/jsonschema
// compiles its metaschemas in an init function, which takes longer than transect needs to start a script.
func Check(scheme map[string]any, path string, value any) error {
	types := typesOf(value)
	if want := texts(scheme["type"]); len(want) > 0 &&
		!slices.ContainsFunc(want, func(t string) bool { return slices.Contains(types, t) }) {
		return fmt.Errorf("%s: must be of type %s", path, strings.Join(want, " or "))
	}
	if allowed, ok := scheme["enum"].([]any); ok && !slices.ContainsFunc(allowed,
		func(one any) bool { return equal(one, value) }) {
		text, _ := json.Marshal(allowed) // cannot fail: decoded from JSON
		return fmt.Errorf("%s: must be one of %s", path, text)
	}
	n, _ := number(value)
	s, _ := value.(string)
	elements, _ := value.([]any)
	for _, bound := range []struct {
		kind, low, high string
		size            float64
		format          string
	}{
		{"number", "minimum", "maximum", n, "%s: must be at %s %v"},
		{"string", "minLength", "maxLength", float64(utf8.RuneCountInString(s)), "%s: must have at %s %v characters"},
		{"array", "minItems", "maxItems", float64(len(elements)), "%s: must have at %s %v elements"},
	} {
		if !slices.Contains(types, bound.kind) {
			continue
		}
		if low, ok := number(scheme[bound.low]); ok && bound.size < low {
			return fmt.Errorf(bound.format, path, "least", low)
		}
		if high, ok := number(scheme[bound.high]); ok && bound.size > high {
			return fmt.Errorf(bound.format, path, "most", high)
		}
	}
	switch v := value.(type) {
	case string:
		pattern, ok := scheme["pattern"].(string)
		if !ok {
			return nil
		}
		expression, err := regexp.Compile(pattern)
		if err != nil {
			return fmt.Errorf("%s: the analytic's scheme has an invalid pattern: %w", path, err)
		}
		if !expression.MatchString(v) {
			return fmt.Errorf("%s: must match %s", path, pattern)
		}
	case []any:
		items, ok := scheme["items"].(map[string]any)
		for i := 0; ok && i < len(v); i++ {
			if err := Check(items, fmt.Sprintf("%s[%d]", path, i), v[i]); err != nil {
				return err
			}
		}
	case map[string]any:
		return checkObject(scheme, path, v)
	}
	return nil
}

func checkObject(scheme map[string]any, path string, value map[string]any) error {
	for _, key := range texts(scheme["required"]) {
		if _, ok := value[key]; !ok {
			return fmt.Errorf("%s.%s: is required", path, key)
		}
	}
	properties, _ := scheme["properties"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(value)) {
		property, ok := properties[key].(map[string]any)
		if !ok && scheme["additionalProperties"] == any(false) {
			return fmt.Errorf("%s.%s: is unknown", path, key)
		}
		if ok {
			if err := Check(property, path+"."+key, value[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

// typesOf lists the JSON Schema types of a value.
func typesOf(value any) []string {
	switch v := value.(type) {
	case nil:
		return []string{"null"}
	case string:
		return []string{"string"}
	case bool:
		return []string{"boolean"}
	case []any:
		return []string{"array"}
	case map[string]any:
		return []string{"object"}
	default:
		if n, ok := number(v); ok && n == float64(int64(n)) {
			return []string{"number", "integer"}
		}
		return []string{"number"}
	}
}

// number reads a number as decoded from JSON.
func number(v any) (float64, bool) {
	text, _ := v.(json.Number)
	n, err := text.Float64()
	return n, err == nil
}

// texts reads a string or a list of strings.
func texts(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	list, _ := v.([]any)
	var found []string
	for _, one := range list {
		if s, ok := one.(string); ok {
			found = append(found, s)
		}
	}
	return found
}

func equal(a, b any) bool {
	m, isNumber := number(a)
	n, ok := number(b)
	return isNumber && ok && m == n || reflect.DeepEqual(a, b)
}
