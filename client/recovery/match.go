package recovery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/schema"
)

// agrees reports whether a record has the values that were sent, as far as it has the attributes.
func agrees(sent map[string]any, record []byte, s *declare.Spec) bool {
	text, err := declare.Encode(sent)
	if err != nil {
		return false
	}
	var plain map[string]any
	if json.Unmarshal(text, &plain) != nil {
		return false
	}
	for key, value := range plain {
		if key == s.Rename[0] && s.Rename[1] != "" {
			key = s.Rename[1]
		}
		there := gjson.GetBytes(record, gjson.Escape(key))
		if !there.Exists() || there.Type == gjson.Null {
			continue
		}
		if !same(value, there.Value()) {
			return false
		}
	}
	return true
}

// same compares JSON values: dates by the instant, lists of texts without order, objects by the keys that
// were sent.
func same(sent, there any) bool {
	switch sent := sent.(type) {
	case map[string]any:
		object, ok := there.(map[string]any)
		if !ok {
			return false
		}
		for key, v := range sent {
			if in, has := object[key]; has && !same(v, in) {
				return false
			}
		}
		return true
	case []any:
		list, ok := there.([]any)
		if !ok || len(list) != len(sent) {
			return false
		}
		if texts(sent) && texts(list) {
			sent, list = slices.Clone(sent), slices.Clone(list)
			slices.SortFunc(sent, compareTexts)
			slices.SortFunc(list, compareTexts)
		}
		for i := range sent {
			if _, id := list[i].(string); id && isObject(sent[i]) {
				continue // the record has no more of it
			}
			if !same(sent[i], list[i]) {
				return false
			}
		}
		return true
	case string:
		if text, ok := there.(string); ok {
			return sent == text || sameInstant(sent, text)
		}
		object, ok := there.(map[string]any) // an expanded reference
		return ok && (object["_id"] == sent || object["name"] == sent)
	}
	return fmt.Sprint(sent) == fmt.Sprint(there)
}

func isObject(v any) bool { _, ok := v.(map[string]any); return ok }

func texts(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok })
}

func compareTexts(a, b any) int { return cmp.Compare(a.(string), b.(string)) }

func sameInstant(a, b string) bool {
	one, other := schema.Date(a).Time(), schema.Date(b).Time()
	return !one.IsZero() && one.Equal(other)
}
