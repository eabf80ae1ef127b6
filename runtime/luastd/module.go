package luastd

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm"
)

// module implements module: it makes a new table, which require will return, the environment of the calling
// function.
func module(L *lua.LState) int {
	name := checkString(L, 1)
	loaded, _ := L.GetField(L.GetGlobal("package"), "loaded").(*lua.LTable)
	if loaded == nil {
		vm.RaiseText(L, "package.loaded must be a table")
	}
	t, ok := loaded.RawGetString(name).(*lua.LTable)
	if !ok {
		if t, ok = L.FindTable(L.Env, name, 1).(*lua.LTable); !ok {
			vm.RaiseText(L, "name conflict for module '%s'", name)
		}
		loaded.RawSetString(name, t)
	}
	if t.RawGetString("_NAME") == lua.LNil {
		t.RawSetString("_M", t)
		t.RawSetString("_NAME", lua.LString(name))
		t.RawSetString("_PACKAGE", lua.LString(name[:strings.LastIndexByte(name, '.')+1]))
	}
	dbg, ok := L.GetStack(1)
	if !ok {
		vm.RaiseText(L, "'module' not called from a Lua function")
	}
	caller, _ := L.GetInfo("f", dbg, lua.LNil)
	f, ok := caller.(*lua.LFunction)
	if !ok || f.IsG {
		vm.RaiseText(L, "'module' not called from a Lua function")
	}
	f.Env = t
	for i := 2; i <= L.GetTop(); i++ {
		vm.Call(L, L.Get(i), t)
	}
	return 0
}

// seeAll implements package.seeall: a module inherits undefined names from the globals.
func seeAll(L *lua.LState) int {
	t := checkTable(L, 1)
	meta, ok := t.Metatable.(*lua.LTable)
	if !ok {
		meta = L.NewTable()
		t.Metatable = meta
	}
	meta.RawSetString("__index", L.Env)
	return 0
}
