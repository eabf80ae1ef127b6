// Package filters detects mistakes in the filter of a search: a field that its records do not have,
// a name where an id is expected, a value that no record has. The platform finds nothing by these,
// or everything when they are negated, without an error.
//
// An undocumented field may exist all the same, and a filter that tests it with $exists is
// accepted. Mistakes are certain. Doubtful reports filters that may find more than intended: their
// results must not be deleted or changed.
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

// Mistake is an evident error in the arguments of a search.
type Mistake struct {
	Argument, Name string // filter and the field in it
	Misspelt       bool   // the field is misspelt; otherwise its value is wrong
	Text, Hint     string
}

// Mistakes lists the errors in filter, sort and fields of a call. Values may be incomplete: nil is
// an unknown value.
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
		record, tested := client.RecordTypeOf(s.Manager), existsFields(values["filter"])
		each(values["filter"], func(name string, condition any) {
			if tested[name] || misspelt("filter", name) || record == nil {
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

// existsFields returns the fields that a filter tests with $exists, which are accepted even if undocumented.
func existsFields(filter any) map[string]bool {
	tested := map[string]bool{}
	each(filter, func(name string, condition any) {
		operators, _ := condition.(map[string]any)
		tested[name] = tested[name] || operators["$exists"] == true
	})
	return tested
}

// compared are the operators whose operands are values of the field, or lists of them.
var compared = []string{"$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte"}

// impossible explains why no value of a field can match a condition; "" if one may.
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

// wrongValue explains why a field never has a value; "" if it may.
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
		case f.Name == "project" || f.Name == "mission": // names are resolved
		case !declare.IsIdentifier(written) && !schema.IsPlannedID(written):
			return "is an id, got " + shown, idHint(f.Name, written)
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

// Unlikely describes undocumented parts in the filter of a search without results, which the
// platform may support: a field of its records, a value of a state; "" for none.
func Unlikely(s *declare.Spec, values map[string]any) (why string) {
	record := client.RecordTypeOf(s.Manager)
	if values["filter"] == nil || !searches(s) || record == nil {
		return ""
	}
	tested := existsFields(values["filter"])
	each(values["filter"], func(name string, condition any) {
		switch f := record.Field(name); {
		case why != "" || tested[name] || name == "search": // it searches several fields
		case f == nil:
			why = client.UnknownField(s.Manager, name)
		case strings.Contains(compareText(condition), "*") || strings.HasPrefix(compareText(condition), "^"):
			why = name + " is compared with the literal text, without patterns; $match finds a part of a text"
		default:
			if written, ok := unlisted(f, condition); ok && (name == f.Name || strings.HasSuffix(name, "."+f.Name)) {
				why = fmt.Sprintf("%q is not a known value of %s, the %s", written, name, described(f))
			}
		}
	})
	return why
}

// compareText returns the text that a condition compares with, as a whole or in part.
func compareText(condition any) string {
	operators, ok := condition.(map[string]any)
	if !ok {
		operators = map[string]any{"$eq": condition}
	}
	whole, _ := operators["$eq"].(string)
	part, _ := operators["$match"].(string)
	return cmp.Or(part, whole)
}

// unlisted returns a value in a condition that is not among the documented ones of a state or a kind.
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

// idHint returns the hint how to find the id for a name.
func idHint(field, name string) string {
	for _, m := range client.Declarations() {
		r := client.RecordTypeOf(m.Name)
		if declare.Singular(m.Name) == field && m.Op("search") != nil && r.Field("name") != nil {
			return declare.NameHint(m.Name, field, name)
		}
	}
	return "look up the id by another property"
}

// Doubtful explains why a search may find more than intended; "" for a safe filter. An unknown
// field differs from every value; an empty filter may be intended.
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
		return "its filter is empty; a condition whose value is nil does not count"
	}
	tested := existsFields(filter)
	each(filter, func(name string, condition any) {
		operators, _ := condition.(map[string]any)
		negated := operators["$ne"] != nil || operators["$nin"] != nil || operators["$exists"] == false
		if negated && !tested[name] && record.Field(name) == nil && why == "" {
			why = fmt.Sprintf("%s is not a known field of a %s, so it differs from every value", name,
				declare.Singular(s.Manager))
		}
	})
	return why
}
