package vm

import (
	lua "github.com/yuin/gopher-lua"
)

// openDebug takes away what stands outside of the language's own walls: the
// interpreter's channels, which wait with the lock held, and with walls around
// the script the functions that reach into others.
func (in *Interp) openDebug() {
	L := in.main
	L.SetGlobal("channel", lua.LNil)
	loaded := L.GetGlobal("package").(*lua.LTable).RawGetString("loaded").(*lua.LTable)
	loaded.RawSetString("channel", lua.LNil)
	if !in.Walled() {
		return
	}
	lib := L.GetGlobal("debug").(*lua.LTable)
	for _, name := range []string{"getfenv", "setfenv", "getlocal", "setlocal", "getmetatable", "setmetatable", "getupvalue", "setupvalue"} {
		lib.RawSetString(name, lua.LNil)
	}
}
