package store

import (
	"encoding/json"
	"strings"
)

// Projection chooses the keys that a search returns. The zero one returns all.
type Projection struct {
	Include, Exclude []string // dotted keys; at most one of the lists is used
}

// Apply returns the document with the chosen keys; _id is always among them.
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

// applyTo is Apply for a document as it is stored.
func (p Projection) applyTo(body []byte) (json.RawMessage, error) {
	if p.Include == nil && p.Exclude == nil {
		return body, nil
	}
	doc, err := read(body)
	if err != nil {
		return nil, err
	}
	return encode(p.Apply(doc))
}

// branch is a set of dotted keys as a tree; a branch without twigs is a whole key.
type branch map[string]branch

func tree(keys []string) branch {
	root := branch{}
	for _, key := range keys {
		at := root
		parts := strings.Split(key, ".")
		for i, part := range parts {
			next, known := at[part]
			if known && len(next) == 0 {
				break // part of a key that is chosen as a whole
			}
			if i == len(parts)-1 {
				next = nil
			} else if !known {
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
		for key, twig := range t {
			if inner, ok := v[key]; ok {
				if chosen := include(inner, twig); chosen != nil || inner == nil {
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
	return nil // the key asks for something inside a plain value
}

func exclude(v any, t branch) any {
	switch v := v.(type) {
	case map[string]any:
		kept := Doc{}
		for key, inner := range v {
			twig, named := t[key]
			switch {
			case !named:
				kept[key] = inner
			case len(twig) > 0:
				kept[key] = exclude(inner, twig)
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
