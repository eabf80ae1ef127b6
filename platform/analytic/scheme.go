package analytic

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Check checks a value against a JSON Schema. The error names the path of the
// value and what is wrong with it.
//
// It knows the keywords that analytics use: type, enum, pattern, minimum, maximum,
// the lengths, items, properties, additionalProperties and required. It is
// written by hand because santhosh-tekuri/jsonschema compiles its metaschemas in
// an init function, which takes longer than transect needs to start a script.
func Check(scheme map[string]any, path string, value any) error {
	if want := texts(scheme["type"]); len(want) > 0 && !hasType(want, value) {
		return fmt.Errorf("%s: must be of type %s", path, strings.Join(want, " or "))
	}
	if allowed, ok := list(scheme["enum"]); ok && !contains(allowed, value) {
		return fmt.Errorf("%s: must be one of %s", path, plain(allowed))
	}
	switch v := value.(type) {
	case string:
		return checkText(scheme, path, v)
	case []any:
		return checkList(scheme, path, v)
	case map[string]any:
		return checkObject(scheme, path, v)
	}
	if n, ok := number(value); ok {
		if low, ok := number(scheme["minimum"]); ok && n < low {
			return fmt.Errorf("%s: must be at least %v", path, low)
		}
		if high, ok := number(scheme["maximum"]); ok && n > high {
			return fmt.Errorf("%s: must be at most %v", path, high)
		}
	}
	return nil
}

func checkText(scheme map[string]any, path, value string) error {
	length := float64(utf8.RuneCountInString(value))
	if low, ok := number(scheme["minLength"]); ok && length < low {
		return fmt.Errorf("%s: must have at least %v characters", path, low)
	}
	if high, ok := number(scheme["maxLength"]); ok && length > high {
		return fmt.Errorf("%s: must have at most %v characters", path, high)
	}
	if pattern, ok := scheme["pattern"].(string); ok {
		expression, err := regexp.Compile(pattern)
		if err != nil {
			return fmt.Errorf("%s: the analytic's schema has an invalid pattern: %w", path, err)
		}
		if !expression.MatchString(value) {
			return fmt.Errorf("%s: must match %s", path, pattern)
		}
	}
	return nil
}

func checkList(scheme map[string]any, path string, value []any) error {
	if low, ok := number(scheme["minItems"]); ok && float64(len(value)) < low {
		return fmt.Errorf("%s: must have at least %v elements", path, low)
	}
	if high, ok := number(scheme["maxItems"]); ok && float64(len(value)) > high {
		return fmt.Errorf("%s: must have at most %v elements", path, high)
	}
	items, ok := scheme["items"].(map[string]any)
	for i := 0; ok && i < len(value); i++ {
		if err := Check(items, fmt.Sprintf("%s[%d]", path, i), value[i]); err != nil {
			return err
		}
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
	for key, inner := range value {
		property, ok := properties[key].(map[string]any)
		if !ok && scheme["additionalProperties"] == any(false) {
			return fmt.Errorf("%s.%s: is unknown", path, key)
		}
		if ok {
			if err := Check(property, path+"."+key, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func hasType(types []string, value any) bool {
	for _, t := range types {
		switch v := value.(type) {
		case nil:
			if t == "null" {
				return true
			}
		case string:
			if t == "string" {
				return true
			}
		case bool:
			if t == "boolean" {
				return true
			}
		case []any:
			if t == "array" {
				return true
			}
		case map[string]any:
			if t == "object" {
				return true
			}
		default:
			n, ok := number(v)
			if ok && (t == "number" || t == "integer" && n == float64(int64(n))) {
				return true
			}
		}
	}
	return false
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// texts returns a string, or the strings of a list.
func texts(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	all, _ := list(v)
	var found []string
	for _, one := range all {
		if s, ok := one.(string); ok {
			found = append(found, s)
		}
	}
	return found
}

// list returns a list, as decoded from JSON or written in Go.
func list(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []string:
		all := make([]any, len(v))
		for i := range v {
			all[i] = v[i]
		}
		return all, true
	}
	return nil, false
}

func contains(allowed []any, value any) bool {
	n, isNumber := number(value)
	for _, one := range allowed {
		if m, ok := number(one); ok && isNumber && m == n || reflect.DeepEqual(one, value) {
			return true
		}
	}
	return false
}

func plain(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
