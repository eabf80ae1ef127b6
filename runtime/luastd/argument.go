package luastd

import (
	"math"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/number"
	"transect/runtime/vm"
)

// Arguments with the conversions of Lua 5.1: numeric texts are numbers, numbers are texts, fractions are cut
// off; errors have its wording.

// given reports whether an optional argument is there.
func given(L *lua.LState, arg int) bool { return L.Get(arg) != lua.LNil }

func checkAny(L *lua.LState, arg int) lua.LValue {
	if arg > L.GetTop() {
		vm.ArgError(L, arg, "value expected")
	}
	return L.Get(arg)
}

func checkTable(L *lua.LState, arg int) *lua.LTable {
	t, ok := L.Get(arg).(*lua.LTable)
	if !ok {
		vm.TypeError(L, arg, "table")
	}
	return t
}

func checkFunction(L *lua.LState, arg int) *lua.LFunction {
	f, ok := L.Get(arg).(*lua.LFunction)
	if !ok {
		vm.TypeError(L, arg, "function")
	}
	return f
}

func checkString(L *lua.LState, arg int) string {
	text, ok := number.TextOf(L.Get(arg))
	if !ok {
		vm.TypeError(L, arg, "string")
	}
	return text
}

func optString(L *lua.LState, arg int, otherwise string) string {
	if !given(L, arg) {
		return otherwise
	}
	return checkString(L, arg)
}

func checkNumber(L *lua.LState, arg int) float64 {
	n, ok := number.Of(L.Get(arg))
	if !ok {
		vm.TypeError(L, arg, "number")
	}
	return float64(n)
}

// checkInt returns an argument as an integer of 32 bits, as in most places of Lua 5.1.
func checkInt(L *lua.LState, arg int) int { return int(int32(checkLong(L, arg))) }

func optInt(L *lua.LState, arg, otherwise int) int {
	if !given(L, arg) {
		return otherwise
	}
	return checkInt(L, arg)
}

// checkLong returns an argument as an integer of 64 bits.
func checkLong(L *lua.LState, arg int) int { return integer(checkNumber(L, arg)) }

func optLong(L *lua.LState, arg, otherwise int) int {
	if !given(L, arg) {
		return otherwise
	}
	return checkLong(L, arg)
}

// checkOption returns an argument that is one of some words.
func checkOption(L *lua.LState, arg int, otherwise string, options ...string) string {
	option := otherwise
	if otherwise == "" || given(L, arg) {
		option = checkString(L, arg)
	}
	for _, o := range options {
		if o == option {
			return o
		}
	}
	vm.ArgError(L, arg, "invalid option '"+option+"'")
	return ""
}

// integer cuts off a fraction. Values out of range become the smallest integer, as on the processors that Lua
// usually runs on.
func integer[F ~float64](n F) int {
	if n >= math.MinInt64 && n < math.MaxInt64 {
		return int(n)
	}
	return math.MinInt64
}

// isTrue reports whether a value is true as a condition.
func isTrue(v lua.LValue) bool { return v != lua.LNil && v != lua.LFalse }

// raiseBare raises a message without a position, like errors that Lua 5.1 detects inside its own functions.
func raiseBare(L *lua.LState, message string) { L.Error(lua.LString(message), 0) }
