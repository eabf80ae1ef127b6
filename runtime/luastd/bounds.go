package luastd

import (
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// mostUnpacked is how many values unpack gives at most: Lua 5.1 has a bound as well.
const mostUnpacked = 1 << 16

// boundUnpack refuses to put more values on the stack than it can hold: finding
// that out one by one takes minutes.
func (l *library) boundUnpack() {
	call := l.L.GetGlobal("unpack").(*lua.LFunction).GFunction
	l.L.SetGlobal("unpack", l.L.NewFunction(func(L *lua.LState) int {
		from, to := float64(L.OptNumber(2, 1)), float64(0)
		if t, ok := L.Get(1).(*lua.LTable); ok && L.Get(3) == lua.LNil {
			to = float64(t.Len())
		} else {
			to = float64(L.OptNumber(3, 0))
		}
		if to-from >= mostUnpacked {
			L.RaiseError("too many results to unpack")
		}
		return call(L)
	}))
}

// bound puts a check of the size of its result before a library function.
func (l *library) bound(lib *lua.LTable, name string, size func(*lua.LState) float64) {
	call := lib.RawGetString(name).(*lua.LFunction).GFunction
	lib.RawSetString(name, l.L.NewFunction(func(L *lua.LState) int {
		if n := size(L); n > float64(l.in.MaxText()) {
			vm.Raise(L, l.tooLong(name, n))
		}
		return call(L)
	}))
}

func (l *library) tooLong(name string, length float64) error {
	return sandbox.TooLong(name, length, l.in.MaxText())
}

// formatted estimates the length of string.format's result: the texts plus
// the widths and precisions asked for.
func formatted(L *lua.LState) float64 {
	format := L.CheckString(1)
	size := float64(len(format))
	for i := 2; i <= L.GetTop(); i++ {
		if s, ok := L.Get(i).(lua.LString); ok {
			size += float64(len(s))
		}
	}
	for _, part := range strings.Split(format, "%")[1:] {
		for _, digits := range strings.FieldsFunc(part[:len(part)-len(strings.TrimLeft(part, "+- #0123456789."))],
			func(r rune) bool { return r < '0' || r > '9' }) {
			n, err := strconv.ParseFloat(digits, 64)
			if err == nil {
				size += n
			}
		}
	}
	return size
}
