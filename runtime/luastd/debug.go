package luastd

import lua "github.com/yuin/gopher-lua"

// openDebug takes away what stands outside of the language's own walls: the
// interpreter's channels, which wait with the lock held, and with walls around
// the script the functions that reach into others.
func (l *library) openDebug() {
	L := l.L
	L.SetGlobal("channel", lua.LNil)
	loaded := L.GetGlobal("package").(*lua.LTable).RawGetString("loaded").(*lua.LTable)
	loaded.RawSetString("channel", lua.LNil)
	if !l.in.Restricted() {
		return
	}
	lib := L.GetGlobal("debug").(*lua.LTable)
	for _, name := range []string{"getfenv", "setfenv", "getlocal", "setlocal", "getmetatable", "setmetatable", "getupvalue", "setupvalue"} {
		lib.RawSetString(name, lua.LNil)
	}
}
