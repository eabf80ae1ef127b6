package bindings

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"transect/client"
	"transect/client/declare"
	"transect/client/schema"
	"transect/runtime/vm"
)

type warningsKey struct{}

// warnings returns the names and messages that were warned of; false for a name that the script only tested.
func warnings(L *lua.LState) map[string]bool {
	return vm.State(vm.Of(L), warningsKey{}, func() map[string]bool { return map[string]bool{} })
}

// warnOfField warns of a field that a record does not have and that looks misspelt; it would silently read as
// nil. Other unknown names only warn where the script does not test for them: the platform may send
// undocumented fields.
func warnOfField(L *lua.LState, r *resource, name string) {
	reported, key := warnings(L), r.kind+" "+name
	if isReported, before := reported[key]; isReported || before && vm.Tested(L) {
		return
	}
	reported[key] = true
	if meant := client.MisspeltField(r.kind, name); meant != "" {
		vm.Doubt(L, "", "%s has no field %s; did you mean %s?", schema.Article(declare.Singular(r.kind)), name, meant)
	} else if record := client.RecordTypeOf(r.kind); record != nil && record.Field(name) == nil {
		if vm.Tested(L) {
			reported[key] = false
			return
		}
		warnOnce(L, client.UnknownField(r.kind, name)+" (record:fields() lists what it has)")
	}
}

// doubtNil reports named arguments of a writing call that are present in its table constructor but nil.
func doubtNil(L *lua.LState, s *declare.Spec) {
	named, ok := L.Get(L.GetTop()).(*lua.LTable)
	if !ok {
		return
	}
	for _, n := range vm.NilArguments(L, named, s.Name) {
		if s.Param(n.Name) == nil {
			continue
		}
		why := ""
		if n.Search > 0 {
			why = fmt.Sprintf(": the search on line %d found nothing", n.Search)
		}
		vm.Doubt(L, "write "+n.Name+" = nil, or "+n.Name+" = x or nil, if that is intended",
			"%s: %s is nil, so it was not given%s", s.FullName(), n.Name, why)
	}
}

func warn(L *lua.LState, format string, args ...any) {
	vm.Of(L).Options().Logger.Warn(vm.Where(L, 1) + fmt.Sprintf(format, args...))
}
