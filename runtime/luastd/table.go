package luastd

import (
	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/number"
	"transect/runtime/engine/table"
	"transect/runtime/vm"
)

func (l *library) openTable(L *lua.LState) {
	set(L, "table", map[string]lua.LGFunction{
		"concat": l.concat, "foreach": forEach, "foreachi": forEachElement, "getn": getN, "insert": insert, "maxn": maxN,
		"remove": removeElement, "sort": sortTable,
		"setn": func(L *lua.LState) int {
			checkTable(L, 1)
			vm.RaiseText(L, "'setn' is obsolete")
			return 0
		},
	})
}

func (l *library) concat(L *lua.LState) int {
	sep, list := optString(L, 2, ""), checkTable(L, 1)
	first := optInt(L, 3, 1)
	last := optInt(L, 4, table.Length(list))
	b := l.text(L, "concat")
	for i := first; i <= last; i++ {
		vm.Work(L, 1)
		v := table.Element(list, i)
		text, ok := number.TextOf(v)
		if !ok {
			vm.RaiseText(L, "invalid value (%s) at index %d in table for 'concat'", v.Type(), i)
		}
		b.write(text)
		if i < last {
			b.write(sep)
		}
	}
	return vm.Push(L, lua.LString(b.String()))
}

// slotsPerWork is the number of elements moved in the time of an instruction.
const slotsPerWork = 32

func insert(L *lua.LState) int {
	list := checkTable(L, 1)
	n := table.Length(list)
	switch L.GetTop() {
	case 2:
		list.RawSetInt(n+1, L.Get(2))
		return 0
	case 3:
	default:
		vm.RaiseText(L, "wrong number of arguments to 'insert'")
	}
	at, v := checkInt(L, 2), L.Get(3)
	if at >= 1 && at <= n && n < lua.MaxArrayIndex-1 {
		vm.Work(L, (n-at)/slotsPerWork)
		list.Insert(at, v)
		return 0
	}
	for i := n + 1; i > at; i-- {
		vm.Work(L, 1)
		list.RawSetInt(i, table.Element(list, i-1))
	}
	list.RawSetInt(at, v)
	return 0
}

func removeElement(L *lua.LState) int {
	list := checkTable(L, 1)
	n := table.Length(list)
	at := optInt(L, 2, n)
	if at < 1 || at > n {
		return 0
	}
	L.Push(table.Element(list, at))
	if n < lua.MaxArrayIndex {
		vm.Work(L, (n-at)/slotsPerWork)
		list.Remove(at)
		return 1
	}
	for ; at < n; at++ {
		vm.Work(L, 1)
		list.RawSetInt(at, table.Element(list, at+1))
	}
	list.RawSetInt(n, lua.LNil)
	return 1
}

func getN(L *lua.LState) int {
	return vm.Push(L, lua.LNumber(table.Length(checkTable(L, 1))))
}

func maxN(L *lua.LState) int {
	most := lua.LNumber(0)
	t := checkTable(L, 1)
	vm.Work(L, table.Length(t)/16)
	t.ForEach(func(key, _ lua.LValue) {
		if n, ok := key.(lua.LNumber); ok && n > most {
			most = n
		}
	})
	return vm.Push(L, most)
}

func forEach(L *lua.LState) int {
	t, f := checkTable(L, 1), checkFunction(L, 2)
	for key, v := table.Next(t, lua.LNil); key != lua.LNil; key, v = table.Next(t, key) {
		if result := vm.Call(L, f, key, v); result != lua.LNil {
			return vm.Push(L, result)
		}
	}
	return 0
}

func forEachElement(L *lua.LState) int {
	t, f := checkTable(L, 1), checkFunction(L, 2)
	n := table.Length(t)
	for i := 1; i <= n; i++ {
		if result := vm.Call(L, f, lua.LNumber(i), table.Element(t, i)); result != lua.LNil {
			return vm.Push(L, result)
		}
	}
	return 0
}
