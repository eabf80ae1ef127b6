package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Go types for struct fields, more specific than Go's own.
type (
	// ID is the identifier of one resource.
	ID string
	// IDs is one identifier or a list of them.
	IDs []string
	// Strings is one string or a list of them.
	Strings []string
	// Date is a point in time, "2006-01-02" or RFC 3339.
	Date string
	// Path names a local file or folder.
	Path string
	// Object is a JSON object.
	Object map[string]any
	// Geometry is a GeoJSON geometry, checked before it is sent.
	Geometry map[string]any
	// Drawing is a GeoJSON geometry whose coordinates need not be degrees, e.g. the pixels of an image.
	Drawing map[string]any
	// Filter is a search filter: property to operator object.
	Filter map[string]any
	// Empty is an empty Lua table: whether it is a list or an object depends on the argument's type.
	Empty struct{}
	// Null is sent as JSON null.
	Null struct{}
	// Callback is a caller's function, called with a value while an operation runs. An error ends
	// the operation.
	Callback func(value any) error
	// Extra holds undocumented arguments, which are sent unchanged. An input
	// struct embeds it to accept them.
	Extra struct{ Extra map[string]any }
)

// Identified is a value that represents a resource: it is accepted in place of an id.
type Identified interface{ ResourceID() string }

// Validator is implemented by structs with rules across arguments, such as two
// that cannot be combined.
type Validator interface{ Validate() error }

// MarshalJSON writes an empty object; the check has already replaced the value where a list is expected.
func (Empty) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// MarshalJSON writes null.
func (Null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// KeepNulls replaces nil in decoded JSON by Null, in place.
func KeepNulls(v any) any {
	switch v := v.(type) {
	case nil:
		return Null{}
	case []any:
		for i := range v {
			v[i] = KeepNulls(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = KeepNulls(v[k])
		}
	}
	return v
}

// Sort is a sort order: attributes, most significant first.
type Sort []SortKey

// SortKey is one attribute of a sort order.
type SortKey struct {
	Attribute string
	Direction int // 1 ascending, -1 descending
}

// MarshalJSON writes {attribute: direction}, keeping the order of the keys.
func (s Sort) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(k.Attribute)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s:%d", key, k.Direction)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
