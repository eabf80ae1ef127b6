package store

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// Projection selects the keys that a search returns. The zero value selects all.
type Projection struct {
	Include, Exclude []string // dotted keys; at most one of the lists is used
}

// Apply returns the document with the selected keys; _id is always included.
func (p Projection) Apply(doc Doc) Doc {
	switch {
	case p.Include != nil:
		doc, _ = include(doc, tree(append([]string{"_id"}, p.Include...))).(map[string]any)
	case p.Exclude != nil:
		keys := tree(p.Exclude)
		delete(keys, "_id")
		doc, _ = exclude(doc, keys).(map[string]any)
	}
	return doc
}

// stored returns a function that is like Apply for stored documents.
func (p Projection) stored() func(body []byte) (json.RawMessage, error) {
	switch {
	case p.Include != nil:
		return tree(append([]string{"_id"}, p.Include...)).of
	case p.Exclude != nil:
		return func(body []byte) (json.RawMessage, error) {
			doc, err := read(body)
			if err != nil {
				return nil, err
			}
			return encode(p.Apply(doc))
		}
	}
	return func(body []byte) (json.RawMessage, error) { return body, nil }
}

// branch is a set of dotted keys as a tree; an empty branch is a whole key.
type branch map[string]branch

// of returns the keys of a stored document, of which it decodes only what has parts selected.
func (t branch) of(body []byte) (json.RawMessage, error) {
	doc, chosen := gjson.ParseBytes(body), []byte{'{'}
	if !doc.IsObject() {
		return nil, noObject()
	}
	var err error
	doc.ForEach(func(key, inner gjson.Result) bool {
		parts, named := t[key.Str]
		if !named {
			return true
		}
		text := []byte(inner.Raw)
		if len(parts) > 0 {
			v := include(value(inner), parts)
			if v == nil && inner.Type != gjson.Null {
				return true
			}
			if text, err = encode(v); err != nil {
				return false
			}
		}
		if len(chosen) > 1 {
			chosen = append(chosen, ',')
		}
		chosen = append(append(append(chosen, key.Raw...), ':'), text...)
		return true
	})
	return append(chosen, '}'), err
}

func tree(keys []string) branch {
	root := branch{}
	for _, key := range keys {
		at := root
		parts := strings.Split(key, ".")
		for i, part := range parts {
			next, ok := at[part]
			if ok && len(next) == 0 {
				break // part of a key that is selected as a whole
			}
			if i == len(parts)-1 {
				next = nil
			} else if !ok {
				next = branch{}
			}
			at[part] = next
			at = next
		}
	}
	return root
}

func include(v any, t branch) any {
	if len(t) == 0 {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		kept := Doc{}
		for key, sub := range t {
			if inner, ok := v[key]; ok {
				if chosen := include(inner, sub); chosen != nil || inner == nil {
					kept[key] = chosen
				}
			}
		}
		return kept
	case []any:
		kept := make([]any, 0, len(v))
		for _, element := range v {
			if chosen := include(element, t); chosen != nil {
				kept = append(kept, chosen)
			}
		}
		return kept
	}
	return nil // the key is inside a plain value
}

func exclude(v any, t branch) any {
	switch v := v.(type) {
	case map[string]any:
		kept := Doc{}
		for key, inner := range v {
			sub, named := t[key]
			switch {
			case !named:
				kept[key] = inner
			case len(sub) > 0:
				kept[key] = exclude(inner, sub)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, element := range v {
			kept[i] = exclude(element, t)
		}
		return kept
	}
	return v
}
