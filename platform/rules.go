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

	"transect/client/geojson"
	"transect/client/schema"
	"transect/client/semrange"
	"transect/platform/store"
)

// rule checks a value in a body that is not null, and fails with the request
// (check). key is its whole key, for messages.
type rule func(key string, v any)

// anyText accepts any text, word text that is not empty.
func anyText(key string, v any) {
	if _, ok := v.(string); !ok {
		panic(wrong(key, "must be text"))
	}
}

func word(key string, v any) {
	if v == "" {
		panic(wrong(key, "must not be empty"))
	}
	anyText(key, v)
}

func identifier(key string, v any) {
	if id, ok := v.(string); !ok || !store.IsID(id) {
		panic(wrong(key, "must be an identifier of 24 hexadecimal digits"))
	}
}

func md5Sum(key string, v any) {
	text, _ := v.(string)
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != 16 {
		panic(wrong(key, "must be an MD5 of 32 hexadecimal digits"))
	}
}

// unchecked leaves the check to the handler.
func unchecked(string, any) {}

func flag(key string, v any) {
	if _, ok := v.(bool); !ok {
		panic(wrong(key, "must be true or false"))
	}
}

// number accepts a number between two bounds.
func number(from, to float64) rule {
	return func(key string, v any) {
		n, ok := asNumber(v)
		switch {
		case !ok:
			panic(wrong(key, "must be a number"))
		case n >= from && n <= to:
		case math.IsInf(to, 1):
			panic(wrong(key, "must be %v or more, not %v", from, n))
		default:
			panic(wrong(key, "must be between %v and %v, not %v", from, to, n))
		}
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
	return func(key string, v any) {
		if s, ok := v.(string); !ok || !slices.Contains(allowed, s) {
			panic(wrong(key, "must be one of %v, not %v", allowed, v))
		}
	}
}

// fields are the known keys of an object; it may have others.
type fields map[string]rule

func object(known fields, required ...string) rule {
	return func(key string, v any) {
		object := asObject(key, v)
		for _, name := range required {
			if object[name] == nil {
				panic(wrong(key+"."+name, "is required"))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if object[name] != nil {
				known[name](key+"."+name, object[name])
			}
		}
	}
}

func asObject(key string, v any) store.Doc {
	object, ok := v.(map[string]any)
	if !ok {
		panic(wrong(key, "must be an object"))
	}
	return object
}

// every accepts an object all of whose values pass a rule.
func every(element rule) rule {
	return func(key string, v any) {
		object := asObject(key, v)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			element(key+"."+name, object[name])
		}
	}
}

// list accepts a list whose elements pass a rule.
func list(element rule) rule {
	return func(key string, v any) {
		list, ok := v.([]any)
		if !ok {
			panic(wrong(key, "must be a list"))
		}
		for i, v := range list {
			element(fmt.Sprintf("%s[%d]", key, i), v)
		}
	}
}

// named accepts a list of objects whose names are all different.
func named(known fields) rule {
	objects := list(object(known, "name"))
	return func(key string, v any) {
		objects(key, v)
		names := map[any]bool{}
		for i, v := range v.([]any) {
			name := v.(map[string]any)["name"]
			if names[name] {
				panic(wrong(fmt.Sprintf("%s[%d].name", key, i), "%q is listed twice", name))
			}
			names[name] = true
		}
	}
}

// pixels accepts a count of pixels, or the text of one.
func pixels(key string, v any) {
	if n, err := strconv.ParseInt(fmt.Sprint(v), 10, 32); err != nil || n < 1 {
		panic(wrong(key, "must be a number of pixels"))
	}
}

func versionRange(key string, v any) {
	text, _ := v.(string)
	if _, err := semrange.Parse(text); err != nil || text == "" {
		panic(wrong(key, "%q is not a range of versions", text))
	}
}

// timeOf reads a date of a document; zero when there is none.
func timeOf(doc store.Doc, key string) time.Time { return schema.Date(store.Text(doc, key)).Time() }

// checkPeriod refuses an end_date before the start_date.
func checkPeriod(doc store.Doc) {
	start, end := timeOf(doc, "start_date"), timeOf(doc, "end_date")
	if !start.IsZero() && !end.IsZero() && end.Before(start) {
		panic(wrong("end_date", "%s is before start_date %s", doc["end_date"], doc["start_date"]))
	}
}

// setDates writes dates of a document in the platform's own form.
func setDates(doc store.Doc, keys ...string) {
	for _, key := range keys {
		if t := timeOf(doc, key); !t.IsZero() {
			doc[key] = date(t)
		}
	}
}

// geometry accepts a GeoJSON geometry in degrees.
func geometry(key string, v any) {
	if err := geojson.Geometry(asObject(key, v), geojson.Options{}); err != nil {
		panic(wrong(key, "%v", err))
	}
}

// position accepts [longitude, latitude] in degrees.
func position(key string, v any) {
	if list, ok := v.([]any); !ok || len(list) != 2 || geojson.Geometry(store.Doc{"type": "Point", "coordinates": v}, geojson.Options{}) != nil {
		panic(wrong(key, "must be [longitude, latitude] in degrees"))
	}
}
