package client

import (
	"slices"
	"strings"
	"sync"

	"transect/client/declare"
	"transect/client/schema"
	"transect/client/suggest"
)

// MisspeltField returns the field of a manager's records that name is most
// likely a misspelling of, or "". Fields of other kinds of records are not
// misspelt: the platform may send more than is documented.
func MisspeltField(manager, name string) string {
	r := RecordTypeOf(manager)
	if r == nil || anyField()[name] || r.Field(name) != nil {
		return ""
	}
	return suggest.Misspelt(name, fieldNames(r.Fields, "", nil))
}

// fieldNames lists the names of fields, dotted when nested, that are wanted.
func fieldNames(fields []RecordField, at string, wanted func(RecordField) bool) (names []string) {
	for _, f := range fields {
		if wanted == nil || wanted(f) {
			names = append(names, at+f.Name)
			if f.Wire != "" && at == "" {
				names = append(names, f.Wire)
			}
		}
		names = append(names, fieldNames(f.Fields, at+f.Name+".", wanted)...)
	}
	return names
}

// anyField holds the names of the fields of all records.
var anyField = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{"id": true, "_id": true, "totable": true, "fields": true}
	for _, r := range RecordTypes() {
		for _, name := range fieldNames(r.Fields, "", nil) {
			all[name] = true
			all[name[strings.LastIndexByte(name, '.')+1:]] = true
		}
	}
	return all
})

// FieldMistake is a field in the arguments of a search that its records do not
// have.
type FieldMistake struct{ Argument, Name, Meant string }

// FieldMistakes lists the misspelt fields in filter, sort and fields of a call.
// Values may be incomplete: only the names count.
func FieldMistakes(s *declare.Spec, values map[string]any) (found []FieldMistake) {
	add := func(argument, name string) {
		m := FieldMistake{argument, name, MisspeltField(s.Manager, name)}
		if m.Meant != "" && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	var filter func(v any)
	filter = func(v any) {
		if list, ok := v.([]any); ok {
			for _, one := range list {
				filter(one)
			}
		}
		object, _ := schema.AsObject(v)
		for _, key := range schema.SortedKeys(object) {
			if strings.HasPrefix(key, "$") {
				filter(object[key])
			} else {
				add("filter", key)
			}
		}
	}
	if p := s.Param("filter"); p != nil && p.Type == "filter" {
		filter(values["filter"])
	}
	if p := s.Param("sort"); p != nil {
		object, _ := schema.AsObject(values["sort"])
		for _, key := range schema.SortedKeys(object) {
			add("sort", key)
		}
	}
	if fields, ok := schema.AsObject(values["fields"]); ok {
		for _, list := range []string{"include", "exclude"} {
			names, _ := fields[list].([]any)
			for _, name := range names {
				if text, ok := name.(string); ok {
					add("fields", text)
				}
			}
		}
	}
	return found
}
