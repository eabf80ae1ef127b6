package vm

import lua "github.com/yuin/gopher-lua"

// openBase replaces the functions that catch errors.
func (in *Interp) openBase() {
	L := in.main
	L.SetGlobal("pcall", L.NewFunction(in.pcall))
	L.SetGlobal("xpcall", L.NewFunction(in.xpcall))
	L.SetGlobal("try", L.NewFunction(in.try))
}

func (in *Interp) pcall(L *lua.LState) int {
	fn := L.CheckAny(1)
	values, failure := in.protect(L, clockOf(L), fn, Args(L, 2), nil)
	return in.outcome(L, values, failure)
}

func (in *Interp) xpcall(L *lua.LState) int {
	fn, handler := L.CheckAny(1), L.CheckFunction(2)
	values, failure := in.protect(L, clockOf(L), fn, Args(L, 3), handler)
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
	return 1 + Push(L, values)
}

// try(f, …) gives f's values, or nil and the error.
func (in *Interp) try(L *lua.LState) int {
	values, failure := in.protect(L, clockOf(L), L.CheckAny(1), Args(L, 2), nil)
	if failure != nil {
		Work(L, raising)
		L.Push(lua.LNil)
		L.Push(failure.value)
		return 2
	}
	return Push(L, values)
}

// Args copies the arguments of a call from number n on.
func Args(L *lua.LState, n int) []lua.LValue {
	var values []lua.LValue
	for i := n; i <= L.GetTop(); i++ {
		values = append(values, L.Get(i))
	}
	return values
}

func Push(L *lua.LState, values []lua.LValue) int {
	for _, v := range values {
		L.Push(v)
	}
	return len(values)
}
