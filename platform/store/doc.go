package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
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

// decode reads exactly one JSON value, keeping numbers as they are written.
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

// Lookup follows a dotted key through objects; nil when something is missing.
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

// Text follows a dotted key to a text; "" when there is none.
func Text(doc Doc, key string) string {
	s, _ := Lookup(doc, key).(string)
	return s
}

// Set stores a value under a dotted key, making the objects on the way.
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
