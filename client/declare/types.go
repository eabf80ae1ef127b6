package declare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"
)

// Types of arguments that say more than Go's own.
type (
	// ID is the identifier of one resource.
	ID string
	// IDs is one identifier or a list of them.
	IDs []string
	// Texts is one text or a list of them.
	Texts []string
	// Date is a point in time, "2006-01-02" or RFC 3339.
	Date string
	// Path names a local file or folder.
	Path string
	// Object is a JSON object.
	Object map[string]any
	// Geometry is a GeoJSON geometry, checked before it is sent.
	Geometry map[string]any
	// Drawing is a GeoJSON geometry whose positions need not be degrees: those
	// of a drawing on an image are pixels.
	Drawing map[string]any
	// Filter is a search filter: property to operator object.
	Filter map[string]any
	// Empty stands for an empty Lua table, which may be a list or an object:
	// the type of the argument decides.
	Empty struct{}
	// Null is sent as JSON null.
	Null struct{}
)

// MarshalJSON writes an empty object; a list type has replaced the value
// where a list is meant.
func (Empty) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// MarshalJSON writes null.
func (Null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Sort is an order of results: attributes, first most significant.
type Sort []SortKey

// SortKey is one attribute of an order.
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

// Type is the kind of value an argument takes.
type Type struct {
	Name  string // as documentation calls it
	Elem  *Type  // of a list
	check func(t *Type, v any) (any, error)
}

func (t *Type) String() string { return t.Name }

// Object tells whether a table with keys is a value of the type.
func (t *Type) Object() bool {
	return t.Name == "object" || t.Name == "filter" || t.Name == "geometry" || t.Name == "sort" || t.Name == "value"
}

var scalar = map[reflect.Type]*Type{
	reflect.TypeFor[string]():         {Name: "text", check: checkText},
	reflect.TypeFor[ID]():             {Name: "id", check: checkID},
	reflect.TypeFor[IDs]():            {Name: "id or list of ids", check: checkIDs},
	reflect.TypeFor[Texts]():          {Name: "text or list of texts", check: checkTexts},
	reflect.TypeFor[Date]():           {Name: "date", check: checkDate},
	reflect.TypeFor[Path]():           {Name: "path", check: checkText},
	reflect.TypeFor[int]():            {Name: "integer", check: checkInteger},
	reflect.TypeFor[int64]():          {Name: "integer", check: checkInteger},
	reflect.TypeFor[float64]():        {Name: "number", check: checkNumber},
	reflect.TypeFor[bool]():           {Name: "boolean", check: checkBool},
	reflect.TypeFor[Object]():         {Name: "object", check: checkObject},
	reflect.TypeFor[map[string]any](): {Name: "object", check: checkObject},
	reflect.TypeFor[Filter]():         {Name: "filter", check: checkFilter},
	reflect.TypeFor[Geometry]():       {Name: "geometry", check: checkGeometry},
	reflect.TypeFor[Drawing]():        {Name: "geometry", check: checkDrawing},
	reflect.TypeFor[Sort]():           {Name: "sort", check: checkSort},
	reflect.TypeFor[any]():            {Name: "value", check: func(_ *Type, v any) (any, error) { return v, nil }},
}

// typeOf finds the type of an input field. Pointers make a value optional
// where its zero value means something; they do not change the type.
func typeOf(t reflect.Type) (*Type, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known, ok := scalar[t]; ok {
		return known, nil
	}
	if t.Kind() == reflect.Slice {
		elem, err := typeOf(t.Elem())
		if err != nil {
			return nil, err
		}
		return &Type{Name: "list of " + plural(elem.Name), Elem: elem, check: checkList}, nil
	}
	return nil, fmt.Errorf("no argument type for %s", t)
}

func plural(name string) string {
	if elem, ok := strings.CutPrefix(name, "list of "); ok {
		return "lists of " + elem
	}
	if strings.HasSuffix(name, "y") {
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
