package client

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
)

// MisspeltField returns the field of a manager's records that name is most
// likely a misspelling of, or "". Fields of other kinds of records are not
// misspelt: the platform may send more than is documented.
func MisspeltField(manager, name string) string {
	if name == "_id" { // what searches are sorted by: no need of the declarations
		return ""
	}
	r := RecordTypeOf(manager)
	if r == nil || anyField()[name] || r.Field(name) != nil {
		return ""
	}
	return suggest.Misspelt(name, fieldNames(r.Fields, ""))
}

// UnknownField describes a field that a manager's records do not declare, with the declared ones that end in its
// name, such as ingestion.status for status.
func UnknownField(manager, name string) string {
	text, nested := schema.Article(declare.Singular(manager))+" is not known to have a field "+name, []string{}
	for _, known := range fieldNames(RecordTypeOf(manager).Fields, "") {
		if strings.HasSuffix(known, "."+name) {
			nested = append(nested, known)
		}
	}
	if len(nested) > 0 {
		text += "; did you mean " + strings.Join(nested, " or ") + "?"
	}
	return text
}

// fieldNames lists the names of fields, dotted when nested.
func fieldNames(fields []RecordField, at string) (names []string) {
	for _, f := range fields {
		names = append(names, at+f.Name)
		if f.Wire != "" && at == "" {
			names = append(names, f.Wire)
		}
		names = append(names, fieldNames(f.Fields, at+f.Name+".")...)
	}
	return names
}

// anyField holds the names of the fields of all records.
var anyField = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{"id": true, "_id": true, "totable": true, "fields": true}
	for _, r := range RecordTypes() {
		for _, name := range fieldNames(r.Fields, "") {
			all[name] = true
			all[name[strings.LastIndexByte(name, '.')+1:]] = true
		}
	}
	return all
})

// Some fields have a documented name and another one on the wire, and so has one
// state of an ingestion. Searches take both.

// Ingested reports whether an ingestion status means that the files were read:
// complete as the interface documents it, completed as it travels.
func Ingested(status string) bool { return slices.Contains(ingested, status) }

var ingested = []string{"completed", "complete"}

// WireNames maps the documented names of a manager's fields to those on the wire,
// dotted, where they differ.
func WireNames(manager string) map[string]string {
	if names, ok := wireNames.Load(manager); ok {
		return names.(map[string]string)
	}
	names := map[string]string{}
	var add func(fields []RecordField, at string)
	add = func(fields []RecordField, at string) {
		for _, f := range fields {
			if f.Wire != "" {
				names[at+f.Name] = f.Wire
			}
			add(f.Fields, at+f.Name+".")
		}
	}
	for _, m := range declarations() { // RecordTypeOf would read the declarations of all
		if m.Name == manager {
			if t := recordOf(m); t != nil {
				add(newRecordType(t).Fields, "")
			}
		}
	}
	wireNames.Store(manager, names)
	return names
}

var wireNames sync.Map // of map[string]string, by manager

// spellSearch translates the field names in a search's filter, order and fields
// to those on the wire.
func spellSearch(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	s := call.Spec
	if s.Param("filter") == nil || call.SendsNothing() || !namesFields(call.Args.Values) {
		return next(ctx, call)
	}
	spelled := *call
	spelled.Args.Values = maps.Clone(call.Args.Values)
	names := WireNames(s.Manager)
	if filter, ok := spelled.Args.Values["filter"].(map[string]any); ok {
		var err error
		if spelled.Args.Values["filter"], err = spellFilter(filter, names); err != nil {
			return declare.Value{}, err
		}
	}
	if order, ok := spelled.Args.Values["sort"].(schema.Sort); ok {
		order = slices.Clone(order)
		for i := range order {
			order[i].Attribute = onWire(order[i].Attribute, names)
		}
		spelled.Args.Values["sort"] = order
	}
	if fields, ok := schema.AsObject(spelled.Args.Values["fields"]); ok && spelled.Args.Values["fields"] != nil {
		fields = maps.Clone(fields)
		for key, list := range fields {
			if list, ok := list.([]any); ok {
				list = slices.Clone(list)
				for i, name := range list {
					if text, ok := name.(string); ok {
						list[i] = onWire(text, names)
					}
				}
				fields[key] = list
			}
		}
		spelled.Args.Values["fields"] = fields
	}
	return next(ctx, &spelled)
}

func namesFields(args map[string]any) bool {
	return args["filter"] != nil || args["sort"] != nil || args["fields"] != nil
}

// onWire returns the name a field has on the wire.
func onWire(name string, names map[string]string) string {
	for head, rest := name, ""; ; {
		if wire, ok := names[head]; ok {
			return wire + rest
		}
		i := strings.LastIndexByte(head, '.')
		if i < 0 {
			return name
		}
		head, rest = head[:i], head[i:]+rest
	}
}

func spellFilter(filter map[string]any, names map[string]string) (map[string]any, error) {
	out := make(map[string]any, len(filter))
	for _, key := range schema.SortedKeys(filter) {
		v := filter[key]
		if list, ok := v.([]any); ok && strings.HasPrefix(key, "$") {
			spelled := slices.Clone(list)
			for i, one := range list {
				if object, ok := one.(map[string]any); ok {
					var err error
					if spelled[i], err = spellFilter(object, names); err != nil {
						return nil, err
					}
				}
			}
			out[key] = spelled
			continue
		}
		name := onWire(key, names)
		if _, twice := out[name]; twice {
			return nil, fault.Of(&fault.SearchError{}, "argument filter: %s and %s are the same field; give one of them", key,
				name)
		}
		if out[name] = v; name == "ingestion.status" {
			out[name] = bothStates(v)
		}
	}
	return out, nil
}

// bothStates makes a condition on an ingestion status treat complete and
// completed alike.
func bothStates(v any) any {
	if text, ok := v.(string); ok && Ingested(text) {
		return map[string]any{"$in": ingested}
	}
	condition, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(condition))
	for operator, operand := range condition {
		text, _ := operand.(string)
		list, _ := operand.([]any)
		several := map[string]string{"$eq": "$in", "$ne": "$nin"}[operator]
		switch {
		case several != "" && Ingested(text) && condition[several] == nil:
			out[several] = ingested
		case (operator == "$in" || operator == "$nin") &&
			(slices.Contains(list, any(ingested[0])) || slices.Contains(list, any(ingested[1]))):
			list = slices.DeleteFunc(slices.Clone(list), func(one any) bool { text, _ := one.(string); return Ingested(text) })
			out[operator] = append(list, ingested[0], ingested[1])
		default:
			out[operator] = operand
		}
	}
	return out
}
