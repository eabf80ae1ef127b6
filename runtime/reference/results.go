package reference

import (
	"reflect"

	"transect/client"
	"transect/client/declare"
)

// results holds the Go results of an operation as Lua types for editors.
type results struct {
	record string   // name of the Go type of its records, or ""
	values []string // types of the values of a call with one id
}

// record is a Go type with the platform's JSON.
type record interface{ JSON() []byte }

var (
	recordType = reflect.TypeFor[record]()
	noneType   = reflect.TypeFor[declare.None]()
	pairType   = reflect.TypeFor[interface{ Values() []any }]()
)

func resultsOf(s *declare.Spec) results {
	out, elem := s.Out, element(s.Out)
	r := results{}
	if elem.Implements(recordType) {
		r.record = elem.Name()
	}
	switch shape := s.Shape; {
	case out == noneType:
	case shape == declare.ShapeIterator:
		r.values = []string{"fun(): " + luaType(elem) + "?"}
	case shape == declare.ShapeSome:
		r.values = []string{luaType(elem)}
	case shape == declare.ShapePage:
		r.values = []string{luaType(elem) + "Page"}
	case out.Implements(pairType):
		for i := range out.NumField() {
			r.values = append(r.values, luaType(out.Field(i).Type))
		}
	default:
		r.values = []string{luaType(out)}
	}
	return r
}

// element returns the type of the records in a cursor, a list or a page.
func element(out reflect.Type) reflect.Type {
	if next, ok := out.MethodByName("Next"); ok {
		return next.Type.Out(0)
	}
	if out.Kind() == reflect.Slice {
		return out.Elem()
	}
	if out.Kind() == reflect.Struct {
		if results, ok := out.FieldByName("Results"); ok {
			return results.Type.Elem()
		}
	}
	return out
}

// luaType converts a Go type to a Lua type.
func luaType(t reflect.Type) string {
	list := ""
	for t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		t, list = t.Elem(), list+"[]"
	}
	if t.Kind() == reflect.Struct && !t.Implements(recordType) {
		return tableInLua(client.FieldsOf(t)) + list
	}
	return inLua(client.TypeName(t)) + list
}
