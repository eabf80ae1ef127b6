package vm

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/compile"
)

// CalledAs returns how the function at a level of the stack was called: the kind of the expression ("global",
// "local", "upvalue", "field", "method") and its name, as far as they are known.
func CalledAs(L *lua.LState, level int) (what, name string) {
	called, ok := placeAt(L, level)
	if !ok || called.dbg.What == "tail" {
		return "", ""
	}
	if caller, ok := placeAt(L, level+1); ok && !caller.fn.IsG {
		return compile.CalledAs(caller.fn.Proto, caller.pc)
	}
	return "", ""
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

// checkAny returns an argument, which must be given.
func checkAny(L *lua.LState, arg int) lua.LValue {
	if arg > L.GetTop() {
		ArgError(L, arg, "value expected")
	}
	return L.Get(arg)
}

func checkThread(L *lua.LState, arg int) *lua.LState {
	th, ok := L.Get(arg).(*lua.LState)
	if !ok {
		ArgError(L, arg, "coroutine expected")
	}
	return th
}
