package bindings

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/filters"
	"transect/client/schema"
	"transect/runtime/vm"
)

// doubt is why a search may find more than was meant; "" where it may not.
type doubt string

// doubts holds the records that doubtful searches found, by id.
type doubts map[string]doubt

type doubtsKey struct{}

func doubtsOf(L *lua.LState) doubts {
	return vm.State(vm.Of(L), doubtsKey{}, func() doubts { return doubts{} })
}

// checkSearch refuses filters that cannot be meant, and warns of misspelt fields elsewhere.
func checkSearch(L *lua.LState, s *declare.Spec, args declare.Args) (doubt, error) {
	if s.Param("filter") == nil {
		return "", nil
	}
	for _, m := range filters.Mistakes(s, args.Values) {
		if m.Argument == "filter" {
			return "", fault.In(s.FullName(), fault.Hinted(fault.Of(&fault.SearchError{}, "argument filter: %s", m.Text), "%s",
				m.Hint))
		}
		warnOnce(L, s.FullName()+": "+m.Argument+": "+m.Text+"; "+m.Hint)
	}
	named, _ := L.Get(L.GetTop()).(*lua.LTable)
	missing, written := vm.FilterAsWritten(L, named)
	why := filters.Doubtful(s, args.Values, written) // {} is meant, a variable with an empty table may not be
	if missing != "" {
		why = missing + " is nil, which is no condition"
		if missing != "filter" { // which may be left out
			warnOnce(L, s.FullName()+": "+why)
		}
	}
	if why != "" {
		why = vm.Where(L, 1) + s.FullName() + ": " + why
	}
	return doubt(why), nil
}

// warnOnce warns of a place in the script once.
func warnOnce(L *lua.LState, message string) {
	if known := misspelt(L); !known[message] {
		known[message] = true
		warn(L, "%s", message)
	}
}

// note remembers a record that a doubtful search found.
func (d doubt) note(L *lua.LState, record []byte) {
	if d != "" {
		id := strings.Clone((&resource{raw: record}).ResourceID())
		doubtsOf(L)[id] = d
		vm.Grow(L, 2*len(id))
	}
}

// checkDoubts refuses to delete or change what a doubtful search found.
func checkDoubts(L *lua.LState, s *declare.Spec, args declare.Args) error {
	found := doubtsOf(L)
	if len(found) == 0 || s.Effect != declare.Delete && s.Effect != declare.Set {
		return nil
	}
	for _, p := range s.Params {
		if !strings.Contains(string(p.Type), "id") {
			continue
		}
		list, ok := args.Values[p.Name].([]any)
		if !ok {
			list = []any{args.Values[p.Name]}
		}
		for _, one := range list {
			id, _ := one.(string)
			if record, ok := one.(schema.Identified); ok {
				id = record.ResourceID()
			}
			if why := found[id]; why != "" {
				return fault.In(s.FullName(), fault.Hinted(fault.Of(&fault.ParameterError{},
					"%s was found by a search that may find more than is meant: %s", id, why),
					"correct the filter; to search everything leave filter out"))
			}
		}
	}
	return nil
}
