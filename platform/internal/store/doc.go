package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"
)

// Doc is one JSON document. Numbers are json.Number, so that integers of any
// size survive being read and written.
type Doc = map[string]any

// Decode reads one JSON object.
func Decode(data []byte) (Doc, error) {
	var doc Doc
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	return doc, nil
}

func noObject() error { return fmt.Errorf("%w: a document is no JSON object", ErrCorrupt) }

// read decodes a stored document without validating it.
func read(body []byte) (Doc, error) {
	v := gjson.ParseBytes(body)
	if !v.IsObject() {
		return nil, noObject()
	}
	doc, _ := value(v).(map[string]any)
	return doc, nil
}

func value(v gjson.Result) any {
	switch {
	case v.Type == gjson.String:
		return v.Str
	case v.Type == gjson.Number:
		return json.Number(v.Raw)
	case v.Type == gjson.True, v.Type == gjson.False:
		return v.Bool()
	case v.IsObject():
		object := map[string]any{}
		v.ForEach(func(key, inner gjson.Result) bool {
			object[key.Str] = value(inner)
			return true
		})
		return object
	case v.IsArray():
		list := []any{}
		v.ForEach(func(_, inner gjson.Result) bool {
			list = append(list, value(inner))
			return true
		})
		return list
	}
	return nil
}

// decode reads exactly one JSON value, preserving the text of numbers.
func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("text after the JSON value")
	}
	return nil
}

// encode writes a value as JSON, without escaping characters that only matter
// inside HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Lookup follows a dotted key through objects, and returns nil when something is missing.
func Lookup(doc Doc, key string) any {
	var v any = doc
	for _, part := range strings.Split(key, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[part]
	}
	return v
}

// Text follows a dotted key to a text, and returns "" when it is absent.
func Text(doc Doc, key string) string {
	s, _ := Lookup(doc, key).(string)
	return s
}

// Set stores a value under a dotted key, creating the objects on the way.
func Set(doc Doc, key string, value any) {
	parts := strings.Split(key, ".")
	for _, part := range parts[:len(parts)-1] {
		inner, ok := doc[part].(map[string]any)
		if !ok {
			inner = Doc{}
			doc[part] = inner
		}
		doc = inner
	}
	doc[parts[len(parts)-1]] = value
}
