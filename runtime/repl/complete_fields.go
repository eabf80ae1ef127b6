package repl

import (
	"slices"

	"transect/client"
	"transect/client/schema"
	"transect/runtime/reference"
)

// recordsOf is the kind of records that a search goes through, or nil.
func (c *completer) recordsOf(at cursor) *client.RecordType {
	if len(at.of) == 0 || len(at.within) == 0 {
		return nil
	}
	e := c.find(at.of).entry
	if e == nil || e.Manager == "" || !slices.ContainsFunc(e.Parameters,
		func(p reference.Parameter) bool { return p.Name == at.within[0] }) {
		return nil
	}
	return client.RecordTypeOf(e.Manager)
}

// inArgument lists the keys that a table in the arguments of a search may have.
func (c *completer) inArgument(at cursor) (words []string) {
	r := c.recordsOf(at)
	field := lastKey(at.within[1:])
	switch {
	case r == nil:
	case at.within[0] == "filter" && field == "":
		for _, name := range fieldsOf(r, func(f client.RecordField) bool { return f.Filter }) {
			words = append(words, name+" = ")
		}
	case at.within[0] == "filter":
		for _, operator := range schema.Operators {
			words = append(words, `["`+operator+`"] = `)
		}
	case at.within[0] == "sort":
		for _, name := range fieldsOf(r, func(f client.RecordField) bool { return f.Sort }) {
			words = append(words, name+" = ")
		}
	case at.within[0] == "fields" && field == "":
		words = []string{"include = ", "exclude = "}
	}
	return words
}

// textInArgument lists what a text in the arguments of a search may be: an
// operator, the name of a field, one of the values of a field.
func (c *completer) textInArgument(at cursor) (words []string) {
	r := c.recordsOf(at)
	if r == nil {
		return nil
	}
	field := lastKey(at.within[1:])
	switch {
	case at.within[0] == "filter" && at.index:
		words = schema.Operators
	case at.within[0] == "filter" && field != "":
		if f := r.Field(field); f != nil {
			words = f.Choices
		}
	case at.within[0] == "fields" && field != "":
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
