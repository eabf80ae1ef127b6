package reference

import (
	"encoding/json"
	"reflect"
	"strings"

	"transect/client"
	"transect/client/declare"
)

// results is what an operation returns to Go, from which follows what editors
// are told it returns to Lua.
type results struct {
	record string   // name of the Go type of its resources, "" when it returns none
	values []string // types in definitions, of one call with one id
}

// record is a type with an identifier and the platform's JSON.
type record interface{ JSON() []byte }

var (
	recordType = reflect.TypeFor[record]()
	rawType    = reflect.TypeFor[json.RawMessage]()
	noneType   = reflect.TypeFor[declare.None]()
	pairType   = reflect.TypeFor[interface{ Values() []any }]()
)

// resultTypes reads off the client what each operation returns. The operations
// of a manager are bound in the order of its fields, a search as two.
func resultTypes() map[string]results {
	all := map[string]results{}
	fields := reflect.TypeFor[client.Client]()
	for _, m := range client.Declarations() {
		ops := m.Ops
		for _, op := range visible(managerType(fields, m.Name)) {
			for _, out := range outputs(op.Type) {
				if len(ops) == 0 {
					break
				}
				all[ops[0].FullName()] = resultsOf(out, ops[0].Shape)
				ops = ops[1:]
			}
		}
	}
	return all
}

func managerType(fields reflect.Type, name string) reflect.Type {
	for i := range fields.NumField() {
		if f := fields.Field(i); f.Tag.Get("manager") == name {
			return f.Type
		}
	}
	return noneType
}

func visible(manager reflect.Type) []reflect.StructField {
	var ops []reflect.StructField
	for i := range manager.NumField() {
		if f := manager.Field(i); f.Tag.Get("hidden") != "yes" {
			ops = append(ops, f)
		}
	}
	return ops
}

// outputs are the results of a field's operations.
func outputs(t reflect.Type) []reflect.Type {
	if t.Kind() == reflect.Func {
		return []reflect.Type{t.Out(0)}
	}
	var outs []reflect.Type
	for i := range t.NumField() { // a search: one page, and all pages
		outs = append(outs, t.Field(i).Type.Out(0))
	}
	return outs
}

func resultsOf(out reflect.Type, shape declare.Shape) results {
	elem := element(out)
	r := results{}
	if elem != nil && elem.Implements(recordType) {
		r.record = elem.Name()
	}
	switch {
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

// element is the type of the records in a result.
func element(out reflect.Type) reflect.Type {
	if next, ok := out.MethodByName("Next"); ok { // a cursor
		return next.Type.Out(0)
	}
	if out.Kind() == reflect.Slice {
		return out.Elem()
	}
	if page, ok := out, out.Kind() == reflect.Struct; ok {
		if results, ok := page.FieldByName("Results"); ok {
			return results.Type.Elem()
		}
	}
	return out
}

// luaType is a Go type in the words of definitions.
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

// recordFields lists the fields of a record by the names they have in Lua.
func recordFields(t reflect.Type) []Parameter {
	var fields []Parameter
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type != reflect.TypeFor[declare.Record]():
			fields = append(fields, recordFields(f.Type)...)
		case name != "" && name != "-":
			fields = append(fields, Parameter{Name: name, lua: luaType(f.Type)})
		}
	}
	return fields
}

// records lists the types of resources that operations return, by name.
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
	fields := reflect.TypeFor[client.Client]()
	for _, m := range client.Managers() {
		for _, op := range visible(managerType(fields, m.Name)) {
			for _, out := range outputs(op.Type) {
				add(element(out))
			}
		}
	}
	return found
}
