package vm

import (
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// defaultMaxText bounds what one call of a string function may build, in
// bytes. Such a call is a single instruction: the clock does not see into it.
const defaultMaxText = 256 << 20

func (in *Interp) openBounds() {
	text := in.main.GetGlobal("string").(*lua.LTable)
	in.bound(text, "rep", func(L *lua.LState) float64 {
		return float64(len(L.CheckString(1))) * float64(L.CheckNumber(2))
	})
	in.boundUnpack()
}

// mostUnpacked is how many values unpack gives at most: Lua 5.1 has a bound as well.
const mostUnpacked = 1 << 16

// boundUnpack refuses to put more values on the stack than it can hold: finding
// that out one by one takes minutes.
func (in *Interp) boundUnpack() {
	call := in.main.GetGlobal("unpack").(*lua.LFunction).GFunction
	in.main.SetGlobal("unpack", in.main.NewFunction(func(L *lua.LState) int {
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
func (in *Interp) bound(lib *lua.LTable, name string, size func(*lua.LState) float64) {
	call := lib.RawGetString(name).(*lua.LFunction).GFunction
	lib.RawSetString(name, in.main.NewFunction(func(L *lua.LState) int {
		if n := size(L); n > float64(in.maxText) {
			Raise(L, in.tooLong(name, n))
		}
		return call(L)
	}))
}

func (in *Interp) tooLong(name string, length float64) error {
	return tooLong(name, length, in.maxText)
}

func tooLong(name string, length float64, most int) error {
	return fault.Hinted(fault.Of(&fault.LimitError{}, "%s would build a text of %.0f MiB, the limit is %s",
		name, length/(1<<20), size(int64(most))), "read and write large data piece by piece")
}

// size tells a number of bytes to people.
func size(n int64) string { return strings.ReplaceAll(humanize.IBytes(uint64(n)), ".0 ", " ") }

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
