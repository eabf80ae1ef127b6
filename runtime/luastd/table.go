package luastd

import (
	"slices"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm"
)

// concat counts its work; gopher-lua's also fails beyond half a million items.
func (l *library) concat(L *lua.LState) int {
	list, sep := L.CheckTable(1), L.OptString(2, "")
	first, last := L.OptInt(3, 1), 0
	if L.Get(4) == lua.LNil {
		last = list.Len()
	} else {
		last = L.CheckInt(4)
	}
	b := l.text(L, "concat")
	for i := first; i <= last; i++ {
		vm.Work(L, 1)
		v := list.RawGetInt(i)
		if !lua.LVCanConvToString(v) {
			L.RaiseError("invalid value (%s) at index %d in table for concat", v.Type(), i)
		}
		b.write(v.String())
		if i < last {
			b.write(sep)
		}
	}
	L.Push(lua.LString(b.String()))
	return 1
}

// sortTable sorts a copy: a comparison that raises or changes the table leaves
// it whole.
func sortTable(L *lua.LState) int {
	list := L.CheckTable(1)
	less := func(a, b lua.LValue) bool {
		vm.Compared(L, a, b)
		return L.LessThan(a, b)
	}
	if L.Get(2) != lua.LNil {
		f := L.CheckFunction(2)
		less = func(a, b lua.LValue) bool { return lua.LVAsBool(vm.Call(L, f, a, b)) }
	}
	values := make([]lua.LValue, list.Len())
	for i := range values {
		values[i] = list.RawGetInt(i + 1)
	}
	slices.SortFunc(values, func(a, b lua.LValue) int { // copes with inconsistent comparisons
		vm.Work(L, 1)
		if less(a, b) {
			return -1
		}
		return 1 // sorting only asks what is less
	})
	for i, v := range values {
		list.RawSetInt(i+1, v)
	}
	return 0
}

// maxUnpack is how many values unpack returns at most.
const maxUnpack = 1 << 16

// unpack refuses early to put more values on the stack than it holds: finding
// that out one by one takes minutes.
func unpack(L *lua.LState) lua.LGFunction {
	original := L.GetGlobal("unpack").(*lua.LFunction).GFunction
	return func(L *lua.LState) int {
		from, to := float64(L.OptNumber(2, 1)), float64(0)
		if t, ok := L.Get(1).(*lua.LTable); ok && L.Get(3) == lua.LNil {
			to = float64(t.Len())
		} else {
			to = float64(L.OptNumber(3, 0))
		}
		if to-from >= maxUnpack {
			L.RaiseError("too many results to unpack")
		}
		if n := int(to-from) / 4; n > 0 {
			vm.Work(L, n)
		}
		return original(L)
	}
}
