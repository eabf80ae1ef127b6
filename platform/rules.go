package platform

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"transect/client/semrange"
	"transect/platform/store"
)

// rule checks a value in a body that is not null. key is its whole key, for messages.
type rule func(key string, v any) error

// anyText accepts any text, word text that is not empty.
func anyText(key string, v any) error {
	if _, ok := v.(string); !ok {
		return wrong(key, "must be text")
	}
	return nil
}

func word(key string, v any) error {
	if v == "" {
		return wrong(key, "must not be empty")
	}
	return anyText(key, v)
}

func identifier(key string, v any) error {
	if id, ok := v.(string); !ok || !store.IsID(id) {
		return wrong(key, "must be an identifier of 24 hexadecimal digits")
	}
	return nil
}

func md5Sum(key string, v any) error {
	text, _ := v.(string)
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != 16 {
		return wrong(key, "must be an MD5 of 32 hexadecimal digits")
	}
	return nil
}

// unchecked leaves the check to the handler.
func unchecked(string, any) error { return nil }

func flag(key string, v any) error {
	if _, ok := v.(bool); !ok {
		return wrong(key, "must be true or false")
	}
	return nil
}

// number accepts a number between two bounds.
func number(from, to float64) rule {
	return func(key string, v any) error {
		n, ok := asNumber(v)
		switch {
		case !ok:
			return wrong(key, "must be a number")
		case n >= from && n <= to:
			return nil
		case math.IsInf(to, 1):
			return wrong(key, "must be %v or more, not %v", from, n)
		}
		return wrong(key, "must be between %v and %v, not %v", from, to, n)
	}
}

var anyNumber = number(math.Inf(-1), math.Inf(1))

func asNumber(v any) (float64, bool) {
	text, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := text.Float64()
	return n, err == nil
}

func oneOf(allowed ...string) rule {
	return func(key string, v any) error {
		if s, ok := v.(string); !ok || !slices.Contains(allowed, s) {
			return wrong(key, "must be one of %v, not %v", allowed, v)
		}
		return nil
	}
}

// fields are the known keys of an object; it may have others.
type fields map[string]rule

func object(known fields, required ...string) rule {
	return func(key string, v any) error {
		object, ok := v.(map[string]any)
		if !ok {
			return wrong(key, "must be an object")
		}
		for _, name := range required {
			if object[name] == nil {
				return wrong(key+"."+name, "is required")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if object[name] == nil {
				continue
			}
			if err := known[name](key+"."+name, object[name]); err != nil {
				return err
			}
		}
		return nil
	}
}

// every accepts an object all of whose values pass a rule.
func every(element rule) rule {
	return func(key string, v any) error {
		object, ok := v.(map[string]any)
		if !ok {
			return wrong(key, "must be an object")
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if err := element(key+"."+name, object[name]); err != nil {
				return err
			}
		}
		return nil
	}
}

// list accepts a list whose elements pass a rule.
func list(element rule) rule {
	return func(key string, v any) error {
		list, ok := v.([]any)
		if !ok {
			return wrong(key, "must be a list")
		}
		for i, v := range list {
			if err := element(fmt.Sprintf("%s[%d]", key, i), v); err != nil {
				return err
			}
		}
		return nil
	}
}

// named accepts a list of objects whose names are all different.
func named(known fields) rule {
	element := object(known, "name")
	return func(key string, v any) error {
		if err := list(element)(key, v); err != nil {
			return err
		}
		var names []any
		for i, v := range v.([]any) {
			name := v.(map[string]any)["name"]
			if slices.Contains(names, name) {
				return wrong(fmt.Sprintf("%s[%d].name", key, i), "%q is listed twice", name)
			}
			names = append(names, name)
		}
		return nil
	}
}

// quantity accepts a number with its unit: any, or one of those given.
func quantity(units ...string) rule {
	unit := rule(word)
	if units != nil {
		unit = oneOf(units...)
	}
	return object(fields{"value": anyNumber, "unit": unit}, "value", "unit")
}

var (
	quantities = object(fields{"min": quantity(), "max": quantity()})
	bands      = list(object(fields{"name": anyText, "full_width_half_maximum": anyNumber, "central_wavelength": anyNumber}))
	overlap    = object(fields{"forward": anyNumber, "lateral": anyNumber})
)

// pixels accepts a count of pixels, or the text of one.
func pixels(key string, v any) error {
	if n, err := strconv.ParseInt(fmt.Sprint(v), 10, 32); err != nil || n < 1 {
		return wrong(key, "must be a number of pixels")
	}
	return nil
}

func versionRange(key string, v any) error {
	text, _ := v.(string)
	if _, err := semrange.Parse(text); err != nil || text == "" {
		return wrong(key, "%q is not a range of versions", text)
	}
	return nil
}

// dateForms are the forms in which a date may be given; it is in UTC where it
// names no zone.
var dateForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999", "2006-01-02",
	"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04"}

func parseDate(v any) (time.Time, bool) {
	text, _ := v.(string)
	for _, form := range dateForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// day accepts a date.
func day(key string, v any) error {
	if _, ok := parseDate(v); !ok {
		return wrong(key, "%q is not a date such as 2024-03-31 or 2024-03-31T12:00:00.000Z", v)
	}
	return nil
}

// period accepts a start and an end.
func period(key string, v any) error {
	if err := object(fields{"start_date": day, "end_date": day})(key, v); err != nil {
		return err
	}
	return checkPeriod(key+".", v.(map[string]any))
}

// checkPeriod refuses an end_date before the start_date.
func checkPeriod(at string, doc store.Doc) error {
	start, started := parseDate(doc["start_date"])
	end, ended := parseDate(doc["end_date"])
	if started && ended && end.Before(start) {
		return wrong(at+"end_date", "%s is before start_date %s", doc["end_date"], doc["start_date"])
	}
	return nil
}

// setDates writes dates of a document in the platform's own form.
func setDates(doc store.Doc, keys ...string) {
	for _, key := range keys {
		if t, ok := parseDate(doc[key]); ok {
			doc[key] = date(t)
		}
	}
}
