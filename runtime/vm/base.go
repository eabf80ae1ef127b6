package vm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openBase replaces the base functions that must know of tasks and streams.
func (in *Interp) openBase() {
	L := in.main
	L.SetGlobal("print", L.NewFunction(in.print))
	L.SetGlobal("error", L.NewFunction(raise))
	L.SetGlobal("pcall", L.NewFunction(in.pcall))
	L.SetGlobal("xpcall", L.NewFunction(in.xpcall))
	L.SetGlobal("try", L.NewFunction(in.try))
	L.SetGlobal("_printregs", lua.LNil)
}

func (in *Interp) print(L *lua.LState) int {
	var b strings.Builder
	for i, n := 1, L.GetTop(); i <= n; i++ {
		if i > 1 {
			b.WriteByte('\t')
		}
		b.WriteString(L.ToStringMeta(L.Get(i)).String())
	}
	b.WriteByte('\n')
	if _, err := in.opt.Stdout.Write([]byte(b.String())); err != nil {
		Raise(L, err)
	}
	return 0
}

// raise is error as Lua 5.1 has it, also without arguments and where there is
// no Lua line to put before the text.
func raise(L *lua.LState) int {
	v := L.Get(1)
	if text, ok := v.(lua.LString); ok {
		if where := L.Where(L.OptInt(2, 1)); where != "" && !strings.HasPrefix(where, "[G]") && L.OptInt(2, 1) > 0 {
			v = lua.LString(where+" ") + text
		}
	}
	L.Error(v, 0)
	return 0
}

func (in *Interp) pcall(L *lua.LState) int {
	fn := L.CheckAny(1)
	values, failure := in.protect(L, clockOf(L), fn, rest(L, 2), nil)
	return in.outcome(L, values, failure)
}

func (in *Interp) xpcall(L *lua.LState) int {
	fn, handler := L.CheckAny(1), L.CheckFunction(2)
	values, failure := in.protect(L, clockOf(L), fn, rest(L, 3), handler)
	return in.outcome(L, values, failure)
}

// raising is what an error that is caught counts for: making one and finding
// who catches it takes as long as many instructions.
const raising = 50

func (in *Interp) outcome(L *lua.LState, values []lua.LValue, failure *thrown) int {
	if failure != nil {
		Work(L, raising)
		L.Push(lua.LFalse)
		L.Push(failure.value)
		return 2
	}
	L.Push(lua.LTrue)
	return 1 + push(L, values)
}

// try(f, …) gives f's values, or nil and the error.
func (in *Interp) try(L *lua.LState) int {
	values, failure := in.protect(L, clockOf(L), L.CheckAny(1), rest(L, 2), nil)
	if failure != nil {
		Work(L, raising)
		L.Push(lua.LNil)
		L.Push(failure.value)
		return 2
	}
	return push(L, values)
}

// rest copies the arguments from place n on.
func rest(L *lua.LState, n int) []lua.LValue {
	var values []lua.LValue
	for i := n; i <= L.GetTop(); i++ {
		values = append(values, L.Get(i))
	}
	return values
}

func push(L *lua.LState, values []lua.LValue) int {
	for _, v := range values {
		L.Push(v)
	}
	return len(values)
}
