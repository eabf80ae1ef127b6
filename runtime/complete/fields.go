package complete

import (
	"slices"

	"transect/client"
	"transect/client/schema"
	"transect/runtime/reference"
)

// Find returns the entry of the reference that a path leads to, or nil.
type Find func(path []any) *reference.Entry

// Keys lists the keys of the table at the cursor, as "name = ": arguments or options that are not given yet,
// or the keys of a table in the arguments of a search.
func (at Cursor) Keys(find Find) (words []string) {
	if !at.Table || at.Key != "" {
		return nil
	}
	if words = at.inArgument(find); len(words) > 0 {
		return words
	}
	for _, p := range at.parameters(find) {
		if !at.Given[p.Name] {
			words = append(words, p.Name+" = ")
		}
	}
	return words
}

// Values lists the values of the string at the cursor; nil when unknown.
func (at Cursor) Values(find Find) []string {
	if words := at.textInArgument(find); words != nil {
		return words
	}
	if p := at.Parameter(find); p != nil && len(p.Choices) > 0 {
		return p.Choices
	}
	return nil
}

// Parameter returns the argument whose value is typed, or nil.
func (at Cursor) Parameter(find Find) *reference.Parameter {
	list := at.parameters(find)
	if i := slices.IndexFunc(list, func(p reference.Parameter) bool { return p.Name == at.Key }); i >= 0 && at.Table {
		return &list[i]
	}
	return nil
}

// parameters returns the named parameters of the callee: all of an operation, the options of a function.
func (at Cursor) parameters(find Find) []reference.Parameter {
	if len(at.Call) == 0 {
		return nil
	}
	e := find(at.Call)
	switch {
	case e == nil:
		return nil
	case e.Manager != "":
		return e.Parameters
	}
	for _, p := range e.Parameters {
		if p.Options != nil {
			return p.Options
		}
	}
	return nil
}

// recordsOf returns the kind of records that a search returns, or nil.
func (at Cursor) recordsOf(find Find) *client.RecordType {
	if len(at.Of) == 0 || len(at.Within) == 0 {
		return nil
	}
	e := find(at.Of)
	if e == nil || e.Manager == "" || !slices.ContainsFunc(e.Parameters,
		func(p reference.Parameter) bool { return p.Name == at.Within[0] }) {
		return nil
	}
	return client.RecordTypeOf(e.Manager)
}

// inArgument lists the keys of a table in the arguments of a search.
func (at Cursor) inArgument(find Find) (words []string) {
	r := at.recordsOf(find)
	if r == nil {
		return nil
	}
	field := lastKey(at.Within[1:])
	switch {
	case at.Within[0] == "filter" && field == "":
		for _, name := range fieldsOf(r, func(f client.RecordField) bool { return f.Filter }) {
			words = append(words, name+" = ")
		}
	case at.Within[0] == "filter":
		for _, operator := range schema.Operators {
			words = append(words, `["`+operator+`"] = `)
		}
	case at.Within[0] == "sort":
		for _, name := range fieldsOf(r, func(f client.RecordField) bool { return f.Sort }) {
			words = append(words, name+" = ")
		}
	case at.Within[0] == "fields" && field == "":
		words = []string{"include = ", "exclude = "}
	}
	return words
}

// textInArgument lists the values of a text in the arguments of a search: an operator, the name of a field,
// one of the values of a field.
func (at Cursor) textInArgument(find Find) (words []string) {
	r := at.recordsOf(find)
	if r == nil {
		return nil
	}
	field := lastKey(at.Within[1:])
	switch {
	case at.Within[0] == "filter" && at.Index:
		words = schema.Operators
	case at.Within[0] == "filter" && field != "":
		if f := r.Field(field); f != nil {
			words = f.Choices
		}
	case at.Within[0] == "fields" && field != "":
		words = fieldsOf(r, func(client.RecordField) bool { return true })
	}
	return words
}

func lastKey(keys []string) string {
	for _, key := range slices.Backward(keys) {
		if key != "" {
			return key
		}
	}
	return ""
}

func fieldsOf(r *client.RecordType, wanted func(client.RecordField) bool) (names []string) {
	for _, f := range r.Fields {
		if wanted(f) {
			names = append(names, f.Name)
		}
	}
	return names
}
