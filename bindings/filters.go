package bindings

import (
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/filters"
	"transect/client/schema"
	"transect/runtime/vm"
)

// doubt is why a search may find more than was meant; nil where it may not. The records
// that it found carry it.
type doubt *string

// checkSearch refuses filters that cannot be meant, and warns of misspelt fields elsewhere.
func checkSearch(L *lua.LState, s *declare.Spec, args declare.Args) (doubt, error) {
	if s.Param("filter") == nil {
		return nil, nil
	}
	for _, m := range filters.Mistakes(s, args.Values) {
		if m.Argument == "filter" {
			return nil, fault.In(s.FullName(), fault.Hinted(fault.Of(&fault.SearchError{}, "argument filter: %s", m.Text), "%s",
				m.Hint))
		}
		warnOnce(L, s.FullName()+": "+m.Argument+": "+m.Text+"; "+m.Hint)
	}
	named, _ := L.Get(L.GetTop()).(*lua.LTable)
	missing, written := vm.FilterAsWritten(L, named)
	why := filters.Doubtful(s, args.Values, written) // {} is meant, a variable with an empty table may not be
	if missing != "" {
		why = missing + " is nil, which is no condition"
	}
	if why == "" {
		return nil, nil
	}
	if missing != "filter" { // which may be left out
		warnOnce(L, s.FullName()+": "+why)
	}
	why = vm.Where(L, 1) + s.FullName() + ": " + why
	return &why, nil
}

// warnOfNothing says what a search that found nothing may have found nothing by.
func warnOfNothing(L *lua.LState, s *declare.Spec, args declare.Args) {
	if why := filters.Unlikely(s, args.Values); why != "" {
		warnOnce(L, s.FullName()+" found nothing: "+why)
	}
}

// warnOnce warns of a place in the script once.
func warnOnce(L *lua.LState, message string) {
	if known := misspelt(L); !known[message] {
		known[message] = true
		warn(L, "%s", message)
	}
}

// checkKinds refuses a record of one kind where an id of another is wanted.
func checkKinds(s *declare.Spec, args declare.Args) error {
	for name, v := range args.Values {
		if r, ok := v.(*resource); ok {
			if why := wrongKind(r, name); why != "" {
				return fault.In(s.FullName(), fault.Of(&fault.ParameterError{}, "argument %s: %s", name, why))
			}
		}
	}
	return nil
}

// wrongKind says that a record is not one of the kind that a name tells; "" where it may be.
func wrongKind(r *resource, name string) string {
	if client.RecordTypeOf(r.kind) == nil || strings.HasSuffix(declare.Singular(r.kind), name) {
		return ""
	}
	for _, t := range client.RecordTypes() {
		if slices.ContainsFunc(t.Managers, func(m string) bool { return declare.Singular(m) == name }) {
			return fmt.Sprintf("%s was given (%s), not %s", schema.Article(declare.Singular(r.kind)), r.ResourceID(),
				schema.Article(name))
		}
	}
	return ""
}

// checkDoubts refuses to delete or change a record that a doubtful search found. An id is
// let through, wherever it comes from.
func checkDoubts(s *declare.Spec, args declare.Args) error {
	if s.Effect != declare.Delete && s.Effect != declare.Set {
		return nil
	}
	for _, v := range args.Values {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, one := range list {
			if r, ok := one.(*resource); ok && r.doubt != nil {
				return fault.In(s.FullName(), fault.Hinted(fault.Of(&fault.ParameterError{},
					"%s was found by a search that may find more than is meant: %s", r.ResourceID(), *r.doubt),
					"correct the filter; to search everything leave filter out"))
			}
		}
	}
	return nil
}
