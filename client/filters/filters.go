// Package filters says what the filter of a search cannot mean: a field that its records do not have, a
// name where an id is expected, a value that no record has. The platform finds nothing by these, or
// everything when they are negated, and says neither.
//
// A field that no record is documented to have may be there all the same: a filter that asks for it with
// $exists means it. Mistakes are certain. Doubtful reports filters that may find more than was meant: the
// records that these find are not to be deleted or changed.
package filters

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"transect/client"
	"transect/client/declare"
	"transect/client/schema"
	"transect/client/suggest"
)

// Mistake is something in the arguments of a search that cannot be meant.
type Mistake struct {
	Argument, Name string // filter and the field in it
	Misspelt       bool   // the field; else its value is wrong
	Text, Hint     string
}

// Mistakes lists what is wrong in filter, sort and fields of a call. Values may be incomplete: nil stands
// for one that is not known.
func Mistakes(s *declare.Spec, values map[string]any) (found []Mistake) {
	add := func(m Mistake) {
		if !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	misspelt := func(argument, name string) bool {
		meant := client.MisspeltField(s.Manager, name)
		if meant != "" {
			add(Mistake{argument, name, true, schema.Article(declare.Singular(s.Manager)) + " has no field " + name,
				"did you mean " + meant + "?"})
		}
		return meant != ""
	}
	if values["filter"] != nil && searches(s) {
		record, asked := client.RecordTypeOf(s.Manager), askedFor(values["filter"])
		each(values["filter"], func(name string, condition any) {
			if asked[name] || misspelt("filter", name) || record == nil {
				return
			}
			if text, hint := impossible(record.Field(name), condition); text != "" {
				add(Mistake{"filter", name, false, name + " " + text, hint})
			}
		})
	}
	if s.Param("sort") != nil {
		each(values["sort"], func(name string, _ any) { misspelt("sort", name) })
	}
	if fields, ok := schema.AsObject(values["fields"]); ok {
		for _, list := range []string{"include", "exclude"} {
			names, _ := fields[list].([]any)
			for _, name := range names {
				if text, ok := name.(string); ok {
					misspelt("fields", text)
				}
			}
		}
	}
	return found
}

func searches(s *declare.Spec) bool {
	p := s.Param("filter")
	return p != nil && p.Type == "filter"
}

// each visits the conditions of a filter.
func each(filter any, visit func(field string, condition any)) {
	if list, ok := filter.([]any); ok {
		for _, one := range list {
			each(one, visit)
		}
	}
	object, _ := schema.AsObject(filter)
	for _, key := range schema.SortedKeys(object) {
		if strings.HasPrefix(key, "$") {
			each(object[key], visit)
		} else {
			visit(key, object[key])
		}
	}
}

// askedFor lists the fields that a filter asks for with $exists: undocumented ones are meant as they are.
func askedFor(filter any) map[string]bool {
	asked := map[string]bool{}
	each(filter, func(name string, condition any) {
		operators, _ := condition.(map[string]any)
		asked[name] = asked[name] || operators["$exists"] == true
	})
	return asked
}

// compared are the operators whose operands are values of the field, or lists of such.
var compared = []string{"$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte"}

// impossible says why no value of a field fits a condition; "" where one may.
func impossible(f *client.RecordField, condition any) (text, hint string) {
	if f == nil || f.Fields != nil {
		return "", ""
	}
	operators, ok := condition.(map[string]any)
	if !ok {
		return wrongValue(f, condition)
	}
	for _, operator := range compared {
		operands, list := operators[operator].([]any)
		if !list {
			operands = []any{operators[operator]}
		}
		for _, one := range operands {
			if text, hint = wrongValue(f, one); text != "" {
				return text, hint
			}
		}
	}
	return "", ""
}

var year = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{4}(\D|$)`) })

// wrongValue says why a field never has a value.
func wrongValue(f *client.RecordField, v any) (text, hint string) {
	written, isText := v.(string)
	number, isNumber := v.(float64)
	_, isBool := v.(bool)
	if !isText && !isNumber && !isBool {
		n, ok := v.(int64)
		if !ok {
			return "", ""
		}
		number, isNumber = float64(n), true
	}
	shown := strconv.Quote(written)
	if isNumber {
		shown = strconv.FormatFloat(number, 'f', -1, 64)
	} else if isBool {
		shown = fmt.Sprint(v)
	}
	switch f.Type {
	case "id", "list of id":
		switch {
		case !isText:
			return "is an id, got " + shown, ""
		case f.Name == "project" || f.Name == "mission": // names are looked up
		case !declare.IsIdentifier(written) && !schema.IsPlannedID(written):
			return "is an id, got " + shown, lookUp(f.Name, written)
		}
	case "boolean":
		if !isBool {
			return "is true or false, got " + shown, ""
		}
	case "integer", "number":
		if _, err := strconv.ParseFloat(written, 64); isBool || isText && err != nil {
			return "is a number, got " + shown, ""
		}
	case "date":
		if !isText || !year().MatchString(written) {
			return "is a date as text, such as 2026-05-31T00:00:00.000Z, got " + shown,
				"time.parse and time.format make such texts"
		}
	case "string":
		if !isText {
			return "is a text, got " + shown, ""
		}
		if meant := suggest.Misspelt(written, f.Choices); meant != "" {
			return "is never " + shown, "did you mean " + meant + "?"
		}
	}
	return "", ""
}

// Unlikely says what in the filter of a search that found nothing is not documented, though the platform
// may know it: a field of its records, a value of a state; "" where there is no such thing.
func Unlikely(s *declare.Spec, values map[string]any) (why string) {
	record := client.RecordTypeOf(s.Manager)
	if values["filter"] == nil || !searches(s) || record == nil {
		return ""
	}
	asked := askedFor(values["filter"])
	each(values["filter"], func(name string, condition any) {
		switch f := record.Field(name); {
		case why != "" || asked[name] || name == "search": // which looks into several fields
		case f == nil:
			why = client.UnknownField(s.Manager, name)
		case strings.Contains(compareText(condition), "*") || strings.HasPrefix(compareText(condition), "^"):
			why = name + " is compared with the text as it stands: there are no patterns; $match takes part of a text"
		default:
			if written, ok := unlisted(f, condition); ok && (name == f.Name || strings.HasSuffix(name, "."+f.Name)) {
				why = fmt.Sprintf("%s is not known to be %q; it is the %s", name, written, described(f))
			}
		}
	})
	return why
}

// compareText is the text that a condition compares with, whole or in part.
func compareText(condition any) string {
	operators, ok := condition.(map[string]any)
	if !ok {
		operators = map[string]any{"$eq": condition}
	}
	whole, _ := operators["$eq"].(string)
	part, _ := operators["$match"].(string)
	return cmp.Or(part, whole)
}

// unlisted is a value of a condition that is none of those documented for a state or a kind.
func unlisted(f *client.RecordField, condition any) (string, bool) {
	if operators, ok := condition.(map[string]any); ok {
		condition = operators["$eq"]
	}
	written, ok := condition.(string)
	listed := strings.FieldsFunc(described(f), func(r rune) bool { return strings.ContainsRune(" ,;:", r) })
	return written, ok && (len(f.Choices) > 0 || f.Name == "status" && strings.ContainsAny(f.Doc, ",:")) &&
		!slices.Contains(listed, written)
}

func described(f *client.RecordField) string {
	if len(f.Choices) == 0 {
		return f.Doc
	}
	return f.Doc + ": " + strings.Join(f.Choices, ", ")
}

// lookUp says how to find the id of a name.
func lookUp(field, name string) string {
	for _, m := range client.Declarations() {
		r := client.RecordTypeOf(m.Name)
		if declare.Singular(m.Name) == field && m.Op("search") != nil && r.Field("name") != nil {
			return declare.NameHint(m.Name, field, name)
		}
	}
	return "look the id up by what is known of it"
}

// Doubtful says why a search may find more than was meant; "" where its filter is certain. A field that
// the records are not known to have differs from every value; an empty filter may be meant.
func Doubtful(s *declare.Spec, values map[string]any, emptyMeant bool) (why string) {
	filter, given := values["filter"]
	if !given || !searches(s) {
		return ""
	}
	record := client.RecordTypeOf(s.Manager)
	if record == nil {
		return ""
	}
	if object, ok := schema.AsObject(filter); ok && len(object) == 0 && !emptyMeant {
		return "its filter is empty, as is one whose values are nil"
	}
	asked := askedFor(filter)
	each(filter, func(name string, condition any) {
		operators, _ := condition.(map[string]any)
		negated := operators["$ne"] != nil || operators["$nin"] != nil || operators["$exists"] == false
		if negated && !asked[name] && record.Field(name) == nil && why == "" {
			why = fmt.Sprintf("%s is not known as a field of a %s, so that it differs from any value", name,
				declare.Singular(s.Manager))
		}
	})
	return why
}
