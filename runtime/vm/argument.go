package vm

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// CalledAs says as what the function at a level of the stack was called: the kind of
// the expression ("global", "local", "upvalue", "field", "method") and its name, as
// far as they are known.
func CalledAs(L *lua.LState, level int) (what, name string) {
	dbg, ok := L.GetStack(level)
	if !ok {
		return "", ""
	}
	if _, err := L.GetInfo("n", dbg, lua.LNil); err != nil || strings.ContainsAny(dbg.Name, "?<( ") || dbg.Name == "corountine" {
		return "", ""
	}
	return "", dbg.Name[strings.LastIndexByte(dbg.Name, '.')+1:]
}

// Where is the position of the code that runs at a level of the stack, "file:12: ",
// or "" when that is no Lua code.
func Where(L *lua.LState, level int) string {
	dbg, ok := L.GetStack(level)
	if !ok {
		return ""
	}
	if _, err := L.GetInfo("Sl", dbg, lua.LNil); err != nil || dbg.CurrentLine <= 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", dbg.Source, dbg.CurrentLine)
}

// RaiseText raises a message with the position of the Lua code that called the
// running Go function.
func RaiseText(L *lua.LState, format string, args ...any) {
	message := Where(L, 1) + fmt.Sprintf(format, args...)
	Grow(L, len(message))
	L.Error(lua.LString(message), 0)
}

// ArgError raises what is wrong with an argument, in the words of Lua 5.1.
func ArgError(L *lua.LState, arg int, message string) {
	what, name := CalledAs(L, 0)
	if what == "method" {
		if arg--; arg == 0 {
			RaiseText(L, "calling '%s' on bad self (%s)", name, message)
		}
	}
	if name == "" {
		name = "?"
	}
	RaiseText(L, "bad argument #%d to '%s' (%s)", arg, name, message)
}

// TypeError raises that an argument has the wrong type.
func TypeError(L *lua.LState, arg int, expected string) {
	got := "no value"
	if arg <= L.GetTop() {
		got = L.Get(arg).Type().String()
	}
	ArgError(L, arg, expected+" expected, got "+got)
}
