package reference

import (
	"encoding/json"
	"reflect"
	"strings"

	"transect/client"
	"transect/client/declare"
)

// results are the Go results of an operation as Lua types for editors.
type results struct {
	record string   // name of the Go type of its records, or ""
	values []string // types of the values of a call with one id
}

// record is a Go type with the platform's JSON.
type record interface{ JSON() []byte }

var (
	recordType = reflect.TypeFor[record]()
	rawType    = reflect.TypeFor[json.RawMessage]()
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

// element is the type of the records in a cursor, a list or a page.
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

// luaType is a Go type as a Lua type.
func luaType(t reflect.Type) string {
	switch {
	case t == rawType:
		return "any"
	case t.Kind() == reflect.Pointer:
		return luaType(t.Elem()) + "?"
	case t.Implements(recordType):
		return t.Name()
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return luaType(t.Elem()) + "[]"
	case reflect.Map:
		return "table<string, " + luaType(t.Elem()) + ">"
	case reflect.Struct:
		var fields []string
		for _, f := range recordFields(t) {
			fields = append(fields, f.Name+": "+f.lua)
		}
		return "{ " + strings.Join(fields, ", ") + " }"
	}
	return "any"
}

// recordFields lists the fields of a record by their names in Lua.
func recordFields(t reflect.Type) []Parameter {
	var fields []Parameter
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type != reflect.TypeFor[declare.Record]():
			fields = append(fields, recordFields(f.Type)...)
		case name != "" && name != "-":
			fields = append(fields, Parameter{Name: name, Doc: f.Tag.Get("doc"), lua: luaType(f.Type)})
		}
	}
	return fields
}

// records lists the record types that operations return, by name.
func records() map[string]reflect.Type {
	found := map[string]reflect.Type{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Implements(recordType) && found[t.Name()] == nil {
			found[t.Name()] = t
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && !f.Anonymous {
				add(f.Type)
			}
		}
	}
	for _, m := range client.Declarations() {
		for _, s := range m.Ops {
			add(element(s.Out))
		}
	}
	return found
}
