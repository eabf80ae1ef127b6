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

// checkSearch refuses invalid filters and warns of misspelt fields in other arguments. doubt says why the search may
// find more than intended (nil: it cannot); the records that it finds carry it.
func checkSearch(L *lua.LState, s *declare.Spec, args declare.Args) (doubt *string, _ error) {
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
	why := filters.Doubtful(s, args.Values, written) // a literal {} is intended, an empty table in a variable may not be
	if missing != "" {
		why = missing + " is nil, which is not a condition"
	}
	if why == "" {
		return nil, nil
	}
	if missing != "filter" { // which may be left out
		warnOnce(L, s.FullName()+": "+why)
	}
	return new(vm.Where(L, 1) + s.FullName() + ": " + why), nil
}

// warnOfNothing warns of parts of a filter that may be the reason why a search found nothing.
func warnOfNothing(L *lua.LState, s *declare.Spec, args declare.Args) {
	if why := filters.Unlikely(s, args.Values); why != "" {
		warnOnce(L, s.FullName()+" found nothing: "+why)
	}
}

// warnOnce warns of a place in the script once.
func warnOnce(L *lua.LState, message string) {
	if warned := warnings(L); !warned[message] {
		warned[message] = true
		warn(L, "%s", message)
	}
}

// checkKinds refuses records of the wrong kind in an argument or in a list of ids.
func checkKinds(s *declare.Spec, args declare.Args) error {
	for name, v := range args.Values {
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		} else if p := s.Param(name); p == nil || !strings.Contains(string(p.Type), "[]id") {
			continue
		}
		for i, one := range list {
			r, ok := one.(*resource)
			if !ok {
				continue
			}
			why, which := wrongKind(r, name), name
			if isList {
				why, which = wrongKind(r, declare.Singular(name)), fmt.Sprintf("%s[%d]", name, i+1)
			}
			if why != "" {
				return fault.In(s.FullName(), fault.Of(&fault.ParameterError{}, "argument %s: %s", which, why))
			}
		}
	}
	return nil
}

// wrongKind explains that a record is not of the kind that an argument name implies; "" if it may be.
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

// checkDoubts refuses to delete or change a record found by a doubtful search. Plain ids are always accepted.
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
					"%s was found by a search that may find more than intended: %s", r.ResourceID(), *r.doubt),
					"correct the filter; to search everything leave filter out"))
			}
		}
	}
	return nil
}
