package bindings

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"transect/client"
	"transect/client/declare"
	"transect/client/schema"
	"transect/runtime/vm"
)

type misspeltKey struct{}

// misspelt remembers what was found out about names, so that each is looked up
// and warned of once.
func misspelt(L *lua.LState) map[string]bool {
	return vm.State(vm.Of(L), misspeltKey{}, func() map[string]bool { return map[string]bool{} })
}

// warnOfField warns of a field that a record does not have when its name is a
// misspelling: it reads as nil, and nothing else says so.
func warnOfField(L *lua.LState, r *resource, name string) {
	known, key := misspelt(L), r.kind+" "+name
	if known[key] {
		return
	}
	known[key] = true
	if meant := client.MisspeltField(r.kind, name); meant != "" {
		warn(L, "%s has no field %s; did you mean %s?", schema.Article(declare.Singular(r.kind)), name, meant)
	}
}

func warn(L *lua.LState, format string, args ...any) {
	vm.Of(L).Options().Logger.Warn(vm.Where(L, 1) + fmt.Sprintf(format, args...))
}
