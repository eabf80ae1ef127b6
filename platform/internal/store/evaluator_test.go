package store

import (
	"encoding/json"
	"math/big"
	"strings"
	"time"
)

var time0 = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// holds says whether a document passes a filter, as slowly and plainly as can be.
func holds(doc Doc, filter Doc) bool {
	for key, asked := range filter {
		switch key {
		case "$and":
			for _, f := range asked.([]any) {
				if !holds(doc, f.(Doc)) {
					return false
				}
			}
		case "$or":
			one := false
			for _, f := range asked.([]any) {
				one = one || holds(doc, f.(Doc))
			}
			if !one {
				return false
			}
		default:
			operators, ok := asked.(Doc)
			if !ok {
				operators = Doc{"$eq": asked}
			}
			for operator, value := range operators {
				if !expected(doc, strings.Split(key, "."), operator, value) {
					return false
				}
			}
		}
	}
	return true
}

func expected(doc Doc, path []string, operator string, value any) bool {
	found, exists := expectedValues(doc, path)
	some := func(test func(any) bool) bool {
		for _, v := range found {
			if test(v) {
				return true
			}
		}
		return false
	}
	equals := func(want any) bool {
		return want == nil && !exists || some(func(v any) bool { return expectedOrder(v, want, "=") })
	}
	among := func(list []any) bool {
		for _, want := range list {
			if equals(want) {
				return true
			}
		}
		return false
	}
	switch operator {
	case "$eq":
		return equals(value)
	case "$ne":
		return !equals(value)
	case "$in":
		return among(value.([]any))
	case "$nin":
		return !among(value.([]any))
	case "$exists":
		return exists == value.(bool)
	case "$match":
		return some(func(v any) bool {
			s, ok := v.(string)
			return ok && strings.Contains(strings.ToLower(s), strings.ToLower(value.(string)))
		})
	}
	return some(func(v any) bool { return expectedOrder(v, value, operator) })
}

// reach gives the values under a path, lists taken apart, and whether the key
// is there at all.
func expectedValues(v any, path []string) (found []any, exists bool) {
	object, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	inner, ok := object[path[0]]
	if !ok {
		return nil, false
	}
	each := []any{inner}
	if list, ok := inner.([]any); ok {
		each = list
	}
	if len(path) == 1 {
		return each, true
	}
	for _, element := range each {
		f, e := expectedValues(element, path[1:])
		found, exists = append(found, f...), exists || e
	}
	return found, exists
}

func expectedOrder(have, want any, sign string) bool {
	if h, w := rational(have), rational(want); h != nil && w != nil {
		return signed(h.Cmp(w), sign)
	}
	if h, ok := have.(string); ok {
		if w, ok := want.(string); ok {
			return signed(strings.Compare(h, w), sign)
		}
		return false
	}
	switch have.(type) {
	case nil, bool:
		return sign == "=" && have == want
	}
	return false
}

func rational(v any) *big.Rat {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(v.String())
		return r
	case int:
		return new(big.Rat).SetInt64(int64(v))
	case float64:
		return new(big.Rat).SetFloat64(v)
	}
	return nil
}

func signed(order int, sign string) bool {
	switch sign {
	case "=":
		return order == 0
	case "$gt":
		return order > 0
	case "$gte":
		return order >= 0
	case "$lt":
		return order < 0
	}
	return order <= 0
}

func speaksOf(filter Doc, key string) bool {
	for k, v := range filter {
		if k == key {
			return true
		}
		if list, ok := v.([]any); ok && (k == "$and" || k == "$or") {
			for _, f := range list {
				if speaksOf(f.(Doc), key) {
					return true
				}
			}
		}
	}
	return false
}
