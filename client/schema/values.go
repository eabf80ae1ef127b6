package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"sync"
	"time"

	"transect/client/fault"
)

// kindOf classifies a Go value.
func kindOf(v any) Kind {
	switch v := v.(type) {
	case nil:
		return Nil
	case Null:
		return NullValue
	case Empty:
		return EmptyTable
	case bool:
		return Boolean
	case int, int64:
		return Integer
	case float64:
		return kindOfNumber(v)
	case json.Number:
		n, err := v.Float64()
		if err != nil {
			return Other
		}
		return kindOfNumber(n)
	case []any, []string, Sort:
		return List
	case map[string]any:
		return Table
	case Identified:
		return Resource
	case time.Time:
		return Time
	case Callback:
		return Function
	case string, fmt.Stringer: // e.g. a version, a duration
		return Text
	}
	return Other
}

// kindOfNumber treats numbers beyond 2^53 as fractions: they may be inexact.
func kindOfNumber(n float64) Kind {
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		return NotFinite
	case n == math.Trunc(n) && math.Abs(n) <= 1<<53:
		return Integer
	}
	return Fraction
}

// Check returns a value of the type in canonical form: string, int64, float64,
// bool, []any, []string for a list of ids or strings, map[string]any, Sort.
func (t Type) Check(v any) (any, error) {
	kind := kindOf(v)
	for rest, more := string(t), true; more; {
		var one string
		one, rest, more = strings.Cut(rest, "|")
		if elem, isList := strings.CutPrefix(one, "[]"); isList {
			if kind&(List|EmptyTable) != 0 {
				return toList(Type(elem), v)
			}
			continue
		}
		if b := bases[Type(one)]; kind&b.kinds != 0 && !(one == "id" && more && isReference(v)) {
			return b.convert(v)
		}
	}
	return nil, mismatch(t, v)
}

// isReference reports whether a table is a reference {type, id}, not a record.
func isReference(v any) bool {
	o, _ := AsObject(v)
	return o["_id"] == nil && o["type"] != nil
}

func mismatch(t Type, v any) error { return &Mismatch{t, Describe(v)} }

// Describe returns a value as shown in messages.
func Describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case Null:
		return "json.null"
	case string:
		text := fmt.Sprintf("%q", v)
		if len(text) > 60 {
			return "a string"
		}
		return text
	case bool, int, int64, float64, json.Number:
		return fmt.Sprint(v)
	case Empty:
		return "an empty table"
	case Callback:
		return "a function"
	}
	switch kindOf(v) {
	case List:
		return "a list"
	case Table:
		return "a table with keys"
	case Resource:
		return "a resource"
	}
	return fmt.Sprintf("a %T", v)
}

func toString(v any) (any, error) {
	return fmt.Sprint(v), nil
}

func toID(v any) (any, error) {
	switch v := v.(type) {
	case Identified:
		return v.ResourceID(), nil
	case map[string]any: // a record made manually or read from JSON
		for _, key := range []string{"_id", "id"} {
			if id, ok := v[key].(string); ok && id != "" {
				return id, nil
			}
		}
		return nil, mismatch("id", v)
	}
	id := fmt.Sprint(v)
	if id == "" {
		return nil, errors.New("must be an id, got an empty string")
	}
	return id, nil
}

// DateForm is the format of dates on the wire.
const DateForm = "2006-01-02T15:04:05.000Z"

var datePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$`)
})

func toDate(v any) (any, error) {
	if t, ok := v.(time.Time); ok {
		return t.UTC().Format(DateForm), nil
	}
	text := fmt.Sprint(v)
	if !datePattern().MatchString(text) {
		return nil, fmt.Errorf("must be a date such as 2026-05-31 or 2026-05-31T08:30:00Z, got %q", text)
	}
	if _, err := time.Parse(time.DateOnly, text[:10]); err != nil {
		return nil, fmt.Errorf("must be a date, and %s is not in the calendar", text[:10])
	}
	if len(text) > len(time.DateOnly) && Date(text).Time().IsZero() {
		return nil, fmt.Errorf("must be a date, and %s is not a time of day with a zone", text[11:])
	}
	return text, nil
}

// dateForms are the accepted formats of a date.
var dateForms = []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04"}

// Time parses a date, as UTC if it has no zone. It returns zero for any other text.
func (d Date) Time() time.Time {
	for _, form := range dateForms {
		if t, err := time.Parse(form, string(d)); err == nil {
			return t
		}
	}
	return time.Time{}
}

func toNumber(v any) (any, error) {
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case json.Number:
		return v.Float64()
	}
	return v, nil
}

func toInteger(v any) (any, error) {
	if n, ok := v.(int64); ok {
		return n, nil
	}
	n, err := toNumber(v)
	if err != nil {
		return nil, err
	}
	return int64(n.(float64)), nil
}

func toList(elem Type, v any) (any, error) {
	switch list := v.(type) {
	case Empty:
		v = []any{}
	case []string:
		return list, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, mismatch("[]"+elem, v)
	}
	out := make([]any, len(list))
	for i, e := range list {
		checked, err := elem.Check(e)
		if err != nil {
			return nil, inItem(i, err)
		}
		out[i] = checked
	}
	if elem != "string" && elem != "id" {
		return out, nil
	}
	texts := make([]string, len(out))
	for i, e := range out {
		texts[i] = e.(string)
	}
	return texts, nil
}

// inItem prefixes an error with the index of a list's item, counted as in Lua.
func inItem(i int, err error) error {
	item := fmt.Sprintf("[%d]", i+1)
	if f := fault.Find(err); f != nil {
		f.Facts().Message = within(item, f.Facts().Message)
		return f
	}
	return fmt.Errorf("%s%s%w", item, strings.TrimSuffix(within("", err.Error()), err.Error()), err)
}

// AsObject returns the map of a table with keys; an empty table is one, too.
func AsObject(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case Empty:
		return map[string]any{}, true
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Map && r.CanConvert(reflect.TypeFor[map[string]any]()) {
		return r.Convert(reflect.TypeFor[map[string]any]()).Interface().(map[string]any), true
	}
	return nil, false
}

func toObject(v any) (any, error) {
	object, _ := AsObject(v)
	return object, nil
}

// SortedKeys lists the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
