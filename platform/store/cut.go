package store

import "github.com/tidwall/gjson"

// cutter applies a projection to documents as they are kept, without reading
// what is in the keys it keeps.
type cutter struct {
	tree    branch
	include bool
	whole   bool
}

func (p Projection) cutter() cutter {
	switch {
	case p.Include != nil:
		return cutter{tree: p.included(), include: true}
	case p.Exclude != nil:
		return cutter{tree: p.excluded()}
	}
	return cutter{whole: true}
}

func (c cutter) cut(body []byte) []byte {
	if c.whole {
		return body
	}
	v := gjson.ParseBytes(body)
	if c.include {
		kept, _ := appendIncluded(nil, v, c.tree)
		return kept
	}
	return appendExcluded(nil, v, c.tree)
}

// appendIncluded appends what is chosen of a value, or tells that nothing is.
func appendIncluded(to []byte, v gjson.Result, t branch) ([]byte, bool) {
	if len(t) == 0 {
		return append(to, v.Raw...), true
	}
	object := v.IsObject()
	if !object && !v.IsArray() {
		return to, false // the key asks for something inside a plain value
	}
	to = append(to, v.Raw[0])
	v.ForEach(func(key, inner gjson.Result) bool {
		twig, start := t, len(to)
		if object {
			var named bool
			if twig, named = t[key.Str]; !named {
				return true
			}
		}
		to = appendKey(to, key, object)
		longer, kept := appendIncluded(to, inner, twig)
		switch {
		case kept:
			to = longer
		case object && inner.Type == gjson.Null:
			to = append(to, "null"...)
		default:
			to = to[:start]
		}
		return true
	})
	return append(to, v.Raw[0]+2), true // } and ] are two after { and [
}

func appendExcluded(to []byte, v gjson.Result, t branch) []byte {
	object := v.IsObject()
	if !object && !v.IsArray() {
		return append(to, v.Raw...)
	}
	to = append(to, v.Raw[0])
	v.ForEach(func(key, inner gjson.Result) bool {
		twig := t
		if object {
			var named bool
			if twig, named = t[key.Str]; named && len(twig) == 0 {
				return true
			}
		}
		to = appendKey(to, key, object)
		if object && len(twig) == 0 {
			to = append(to, inner.Raw...)
		} else {
			to = appendExcluded(to, inner, twig)
		}
		return true
	})
	return append(to, v.Raw[0]+2)
}

// appendKey appends what comes before a value of an object or a list.
func appendKey(to []byte, key gjson.Result, object bool) []byte {
	if last := to[len(to)-1]; last != '{' && last != '[' {
		to = append(to, ',')
	}
	if object {
		to = append(append(to, key.Raw...), ':')
	}
	return to
}
