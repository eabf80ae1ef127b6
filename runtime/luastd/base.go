package luastd

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm"
)

// openBase replaces print and error, and removes gopher-lua's debugging aid.
func (l *library) openBase() {
	l.L.SetGlobal("print", l.L.NewFunction(l.print))
	l.L.SetGlobal("error", l.L.NewFunction(raise))
	l.L.SetGlobal("_printregs", lua.LNil)
}

func (l *library) print(L *lua.LState) int {
	var b strings.Builder
	for i, n := 1, L.GetTop(); i <= n; i++ {
		if i > 1 {
			b.WriteByte('\t')
		}
		b.WriteString(L.ToStringMeta(L.Get(i)).String())
	}
	b.WriteByte('\n')
	if _, err := l.in.Options().Stdout.Write([]byte(b.String())); err != nil {
		vm.Raise(L, err)
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
