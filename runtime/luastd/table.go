package luastd

import (
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm"
)

// openTable replaces the functions that may work long on one table: they
// count what they do. The interpreter's concat also has no room for more than
// half a million items.
func (l *library) openTable() {
	l.set("table", map[string]lua.LGFunction{"concat": l.concat, "sort": sortTable})
	l.boundUnpack()
}

func (l *library) concat(L *lua.LState) int {
	list, sep := L.CheckTable(1), L.OptString(2, "")
	first, last := L.OptInt(3, 1), 0
	if L.Get(4) == lua.LNil {
		last = list.Len()
	} else {
		last = L.CheckInt(4)
	}
	var b strings.Builder
	for i := first; i <= last; i++ {
		vm.Work(L, 1)
		v := list.RawGetInt(i)
		if !lua.LVCanConvToString(v) {
			L.RaiseError("invalid value (%s) at index %d in table for concat", v.Type(), i)
		}
		b.WriteString(v.String())
		if i < last {
			b.WriteString(sep)
		}
		if b.Len() > l.in.MaxText() {
			vm.Raise(L, l.tooLong("concat", float64(b.Len())))
		}
	}
	L.Push(lua.LString(b.String()))
	return 1
}

// sortTable sorts a copy, so that an order function that raises, or changes
// the table, leaves it whole.
func sortTable(L *lua.LState) int {
	list := L.CheckTable(1)
	s := &sorter{L: L, values: make([]lua.LValue, list.Len())}
	if L.Get(2) != lua.LNil {
		s.less = L.CheckFunction(2)
	}
	for i := range s.values {
		s.values[i] = list.RawGetInt(i + 1)
	}
	sort.Sort(s)
	for i, v := range s.values {
		list.RawSetInt(i+1, v)
	}
	return 0
}

type sorter struct {
	L      *lua.LState
	less   *lua.LFunction
	values []lua.LValue
}

func (s *sorter) Len() int      { return len(s.values) }
func (s *sorter) Swap(i, j int) { s.values[i], s.values[j] = s.values[j], s.values[i] }

func (s *sorter) Less(i, j int) bool {
	L := s.L
	vm.Work(L, 1)
	if s.less == nil {
		return L.LessThan(s.values[i], s.values[j])
	}
	L.Push(s.less)
	L.Push(s.values[i])
	L.Push(s.values[j])
	L.Call(2, 1)
	less := lua.LVAsBool(L.Get(-1))
	L.Pop(1)
	return less
}
