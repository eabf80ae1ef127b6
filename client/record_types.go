package client

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"transect/client/declare"
	"transect/client/schema"
)

// RecordType describes the records of one kind: the fields a script reads, and
// those its searches filter and sort by. Help, completion, checks, editor stubs
// and the reference read it. It comes from the tags of the Go types:
//
//	doc      what the field is
//	type     id, date or geometry, where the Go type is only how it travels
//	unit     of a number
//	choices  the values there are
//	alias    documented name of a field that travels under another one
type RecordType struct {
	Name     string        `json:"name"` // Dataset
	Doc      string        `json:"doc"`
	Managers []string      `json:"managers"` // whose operations return it
	Fields   []RecordField `json:"fields"`
}

// RecordField is one field of a record, or of a table in it.
type RecordField struct {
	Name    string        `json:"name"`           // as documented; filters and sorts take it, too
	Wire    string        `json:"wire,omitempty"` // dotted name it travels under, where that is another
	Type    string        `json:"type"`           // string, number, integer, boolean, date, id, geometry, table, any; "list of …"
	Unit    string        `json:"unit,omitempty"`
	Choices []string      `json:"choices,omitempty"`
	Doc     string        `json:"doc"`
	Filter  bool          `json:"filter"` // a search can filter by it
	Sort    bool          `json:"sort"`   // a search can sort by it
	Fields  []RecordField `json:"fields,omitempty"`
}

// declarations are those that the kinds of records are read from.
var declarations = sync.OnceValue(Declarations)

// RecordTypes lists the kinds of records that operations return, by name.
var RecordTypes = sync.OnceValue(func() []*RecordType {
	types := map[string]*RecordType{}
	for _, m := range declarations() {
		var search *declare.Spec
		if search = m.Op("search"); search != nil && search.Param("filter") == nil {
			search = nil
		}
		for _, s := range m.Ops() {
			for _, t := range recordsIn(s.Out) {
				r := types[t.Name()]
				if r == nil {
					r = newRecordType(t)
					types[t.Name()] = r
				}
				if !slices.Contains(r.Managers, m.Name) {
					r.Managers = append(r.Managers, m.Name)
				}
				if search != nil && search.Out == s.Out {
					markSearchable(r.Fields, search, "", true)
				}
			}
		}
	}
	var all []*RecordType
	for _, name := range schema.SortedKeys(types) {
		all = append(all, types[name])
	}
	return all
})

// RecordTypeOf returns the kind of a manager's records, those its search or its
// descriptions return, or nil when it has none.
func RecordTypeOf(manager string) *RecordType {
	return recordTypesByManager()[manager]
}

var recordTypesByManager = sync.OnceValue(func() map[string]*RecordType {
	found := map[string]*RecordType{}
	for _, m := range declarations() {
		if t := recordOf(m); t != nil {
			found[m.Name] = recordTypeNamed(t.Name())
		}
	}
	return found
})

// recordOf returns the Go type of a manager's records, nil when it has none.
func recordOf(m *declare.Manager) reflect.Type {
	for _, name := range []string{"search", "describe", "create"} {
		if s := m.Op(name); s != nil {
			if types := recordsIn(s.Out); len(types) > 0 {
				return types[0]
			}
		}
	}
	return nil
}

// ManagerOf returns the manager whose records are of a Go type, "" when none is.
func ManagerOf(record reflect.Type) string {
	for _, r := range RecordTypes() {
		for _, manager := range r.Managers {
			if r.Name == record.Name() && RecordTypeOf(manager) == r {
				return manager
			}
		}
	}
	return ""
}

func recordTypeNamed(name string) *RecordType {
	for _, r := range RecordTypes() {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Field finds a field by its documented name or the one it travels under, dotted
// when nested, or returns nil. Below a table of free keys, such as properties,
// the table itself is returned.
func (r *RecordType) Field(name string) *RecordField { return findField(r.Fields, name, "") }

func findField(fields []RecordField, name, at string) *RecordField {
	for i := range fields {
		f := &fields[i]
		for _, own := range []string{at + f.Name, f.Wire} {
			rest, inside := strings.CutPrefix(name, own+".")
			switch {
			case own == "":
			case own == name:
				return f
			case inside && f.Fields == nil:
				return f
			case inside:
				_, rest = listIndex(rest)
				return findField(f.Fields, own+"."+rest, own+".")
			}
		}
	}
	return nil
}

// listIndex cuts the number of an element off a dotted name.
func listIndex(name string) (index, rest string) {
	head, rest, nested := strings.Cut(name, ".")
	if nested && strings.Trim(head, "0123456789") == "" {
		return head, rest
	}
	return "", name
}

var (
	jsonRecord = reflect.TypeFor[interface{ JSON() []byte }]()
	rawJSON    = reflect.TypeFor[json.RawMessage]()
)

// recordsIn lists the record types in the result of an operation.
func recordsIn(out reflect.Type) (found []reflect.Type) {
	switch {
	case out == nil:
	case out.Kind() == reflect.Pointer || out.Kind() == reflect.Slice:
		if next, ok := out.MethodByName("Next"); ok { // a cursor
			return recordsIn(next.Type.Out(0))
		}
		return recordsIn(out.Elem())
	case out.Implements(jsonRecord):
		return []reflect.Type{out}
	case out.Kind() == reflect.Struct:
		for i := range out.NumField() {
			if f := out.Field(i); f.IsExported() {
				found = append(found, recordsIn(f.Type)...)
			}
		}
	}
	return found
}

func newRecordType(t reflect.Type) *RecordType {
	r := &RecordType{Name: t.Name()}
	if record, ok := t.FieldByName("Record"); ok {
		r.Doc = record.Tag.Get("doc")
	}
	var named []RecordField
	r.Fields = fieldsOf(t, "", &named)
	r.Fields = slices.Concat([]RecordField{{Name: "id", Wire: "_id", Type: "id", Doc: "identifier"}}, r.Fields, named)
	return r
}

// FieldsOf lists the fields of a result that is not a record, such as a total with a list.
func FieldsOf(t reflect.Type) []RecordField { return fieldsOf(t, "", new([]RecordField)) }

// fieldsOf reads the tags of a struct at a dotted name. Documented names
// outside it, in the record itself, are added to named.
func fieldsOf(t reflect.Type, at string, named *[]RecordField) (fields []RecordField) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type != reflect.TypeFor[Record]():
			fields = append(fields, fieldsOf(f.Type, at, named)...)
		case name != "" && name != "-" && !f.Anonymous:
			field := RecordField{Name: name, Type: fieldType(f), Unit: f.Tag.Get("unit"),
				Choices: schema.Words(f.Tag.Get("choices")), Doc: f.Tag.Get("doc")}
			inner := f.Type
			if inner.Kind() == reflect.Slice {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				field.Fields = fieldsOf(inner, at+name+".", named)
			}
			fields = append(fields, field)
			if alias := f.Tag.Get("alias"); alias != "" {
				documented := field
				documented.Wire = at + name
				if own, here := strings.CutPrefix(alias, at); here {
					documented.Name = own
					fields = append(fields, documented)
				} else {
					documented.Name = alias
					*named = append(*named, documented)
				}
			}
		}
	}
	return fields
}

// fieldType names the type of a field as scripts see it.
func fieldType(f reflect.StructField) string {
	declared := f.Tag.Get("type")
	if element, list := strings.CutPrefix(declared, "[]"); list {
		return "list of " + element
	} else if declared != "" {
		return declared
	}
	return strings.TrimSuffix(TypeName(f.Type), "?") // any field may be absent
}

// TypeName names a Go type of a field or a result as scripts see it: a
// record by its name, with ? where it may be nil.
func TypeName(t reflect.Type) string {
	switch {
	case t == rawJSON:
		return "any"
	case t.Kind() == reflect.Pointer:
		return TypeName(t.Elem()) + "?"
	case t.Implements(jsonRecord):
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
		return "list of " + TypeName(t.Elem())
	case reflect.Map, reflect.Struct:
		return "table"
	}
	return "any"
}

// markSearchable sets which fields a search can filter and sort by: those it
// documents, else all. Lists and tables have no order.
func markSearchable(fields []RecordField, search *declare.Spec, at string, ordered bool) {
	for i := range fields {
		f := &fields[i]
		name := at + f.Name
		f.Filter = len(search.FilterKeys) == 0 || slices.Contains(search.FilterKeys, name) ||
			slices.Contains(search.FilterKeys, f.Wire)
		list := strings.HasPrefix(f.Type, "list of")
		f.Sort = ordered && search.Param("sort") != nil && !list && f.Type != "table" && f.Type != "geometry" &&
			f.Type != "any"
		markSearchable(f.Fields, search, name+".", ordered && !list)
	}
}
