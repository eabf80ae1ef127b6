package module

import (
	"maps"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm"
)

type registryKey struct{}

func registry(in *vm.Interp) map[string]*Module {
	return vm.State(in, registryKey{}, func() map[string]*Module { return map[string]*Module{} })
}

// Preload makes modules available to require. A module's table is built when a
// script first requires it.
func Preload(in *vm.Interp, mods ...*Module) {
	in.Locked(func(L *lua.LState) {
		for _, m := range mods {
			registry(in)[m.Name] = m
			in.AddLoader(m.Name, m.build)
		}
	})
}

// Preloaded returns the available modules by name, for documentation and
// completion. Code called from Lua holds the lock already and must not use it.
func Preloaded(in *vm.Interp) (mods map[string]*Module) {
	in.Locked(func(*lua.LState) {
		mods = maps.Clone(registry(in))
		for _, m := range mods {
			m.Declare()
		}
	})
	return mods
}
