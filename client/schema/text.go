package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"transect/client/fault"
)

// CheckText refuses a value containing text that is not UTF-8, and names the place: JSON cannot
// represent it, and encoders change it silently.
func CheckText(v any) error {
	path, bad := invalidText(v)
	if bad == "" {
		return nil
	}
	at := 0
	for r, size := utf8.DecodeRuneInString(bad); r != utf8.RuneError || size > 1; r,
		size = utf8.DecodeRuneInString(bad[at:]) {
		at += size
	}
	if path != "" {
		path = "at " + path + ": "
	}
	return fault.Hinted(fault.Of(&fault.ParameterError{}, "%sthe text is not UTF-8: its byte %d is 0x%02X", path, at+1,
		bad[at]),
		"was it read from a file in another encoding? Bytes can be written as text with hash.base64 or string.format")
}

// invalidText returns the first text that is not UTF-8; "" when there is none.
func invalidText(v any) (path, text string) {
	switch v := v.(type) {
	case nil, bool, int, int64, float64:
	case string:
		if !utf8.ValidString(v) {
			return "", v
		}
	case []any:
		for i, e := range v {
			if path, text := invalidText(e); text != "" {
				return joined("["+strconv.Itoa(i+1)+"]", path), text
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if !utf8.ValidString(k) {
				return fmt.Sprintf("the key %q", k), k
			}
			if path, text := invalidText(v[k]); text != "" {
				return joined(k, path), text
			}
		}
	default:
		switch r := reflect.ValueOf(v); r.Kind() {
		case reflect.String:
			return invalidText(r.String())
		case reflect.Slice:
			if r.Type().Elem().Kind() == reflect.String {
				for i := range r.Len() {
					if _, text := invalidText(r.Index(i).String()); text != "" {
						return "[" + strconv.Itoa(i+1) + "]", text
					}
				}
			}
		}
	}
	return "", ""
}

func joined(key, path string) string {
	if path == "" || path[0] == '[' {
		return key + path
	}
	return key + "." + path
}
