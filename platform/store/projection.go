package store

import "strings"

// Projection chooses the keys that a search returns. The zero one returns all.
type Projection struct {
	Include, Exclude []string // dotted keys; at most one of the lists is used
}

// Apply returns the document with the chosen keys; _id is always among them.
func (p Projection) Apply(doc Doc) Doc {
	switch {
	case p.Include != nil:
		kept, _ := include(doc, p.included()).(map[string]any)
		return kept
	case p.Exclude != nil:
		kept, _ := exclude(doc, p.excluded()).(map[string]any)
		return kept
	}
	return doc
}

func (p Projection) included() branch { return tree(append([]string{"_id"}, p.Include...)) }

func (p Projection) excluded() branch {
	t := tree(p.Exclude)
	delete(t, "_id")
	return t
}

// branch is a set of dotted keys as a tree; a branch without twigs is a whole key.
type branch map[string]branch

func tree(keys []string) branch {
	root := branch{}
	whole := map[string]bool{}
	for _, key := range keys {
		whole[key] = true
	}
	for _, key := range keys {
		at, parts := root, strings.Split(key, ".")
		for i, part := range parts {
			if at[part] == nil {
				at[part] = branch{}
			}
			at = at[part]
			if whole[strings.Join(parts[:i+1], ".")] && i < len(parts)-1 {
				break // a part of a key that is chosen as a whole
			}
		}
	}
	for key := range whole {
		at := root
		for _, part := range strings.Split(key, ".") {
			next, ok := at[part]
			if !ok {
				at = nil
				break
			}
			at = next
		}
		clear(at)
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
