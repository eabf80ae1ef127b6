package luastd

import (
	"runtime"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/number"
	"transect/runtime/engine/table"
	"transect/runtime/vm"
	"transect/runtime/vm/mistake"
)

// openBase sets the basic functions, except errors and coroutines, which are part of package vm, and
// functions that load code.
func (l *library) openBase(L *lua.LState) {
	set(L, "_G", map[string]lua.LGFunction{
		"assert": assert, "collectgarbage": collectGarbage, "error": raise, "gcinfo": gcInfo,
		"getfenv": getEnvironment, "setfenv": setEnvironment, "getmetatable": l.getMetatable, "setmetatable": setMetatable,
		"newproxy": l.newProxy, "print": l.print, "rawequal": rawEqual, "rawget": rawGet, "rawset": rawSet,
		"next": next, "select": selectFrom, "tonumber": toNumber, "tostring": toString, "type": typeOf, "unpack": unpack,
		"module": module, "require": l.require,
		"load": l.load, "loadstring": l.loadString, "loadfile": l.loadFile, "dofile": l.doFile,
	})
	step, element := L.NewFunction(nextOfPairs), L.NewFunction(nextElement)
	set(L, "_G", map[string]lua.LGFunction{
		"pairs": func(L *lua.LState) int {
			return vm.Push(L, step, checkTable(L, 1), lua.LNil)
		},
		"ipairs": func(L *lua.LState) int {
			t := checkTable(L, 1)
			if t.Metatable != lua.LNil {
				vm.DoubtLoop(L, t)
			}
			return vm.Push(L, element, t, lua.LNumber(0))
		},
	})
	l.toString = L.GetGlobal("tostring")
	L.SetGlobal("_GOPHER_LUA_VERSION", lua.LNil)
}

func assert(L *lua.LState) int {
	if !isTrue(checkAny(L, 1)) {
		vm.RaiseText(L, "%s", optString(L, 2, "assertion failed!"))
	}
	return L.GetTop()
}

// raise implements error.
func raise(L *lua.LState) int {
	level, v := optInt(L, 2, 1), L.Get(1)
	if text, ok := number.TextOf(v); ok && level > 0 {
		vm.Grow(L, len(text))
		v = lua.LString(vm.Where(L, level) + text)
	}
	vm.RaiseValue(L, v)
	return 0
}

const (
	measuring  = 20_000 // instructions charged for measuring memory: it stops the process for a moment
	collecting = 50_000
)

func collectGarbage(L *lua.LState) int {
	option := checkOption(L, 1, "collect", "collect", "stop", "restart", "count", "step", "setpause", "setstepmul")
	amount := optInt(L, 2, 0)
	switch option {
	case "count":
		return gcInfo(L)
	case "collect", "step":
		vm.Work(L, collecting)
		runtime.GC()
	}
	if option == "step" {
		return vm.Push(L, lua.LTrue)
	}
	_ = amount // Go's collector tunes itself
	return vm.Push(L, lua.LNumber(0))
}

// gcInfo returns the memory in use, in kilobytes.
func gcInfo(L *lua.LState) int {
	vm.Work(L, measuring)
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return vm.Push(L, lua.LNumber(float64(stats.Alloc)/1024))
}

// function returns the argument of getfenv and setfenv: a function, or the level of one.
func function(L *lua.LState, optional bool) *lua.LFunction {
	if f, ok := L.Get(1).(*lua.LFunction); ok {
		return f
	}
	level := 1
	if !optional || given(L, 1) {
		level = checkInt(L, 1)
	}
	if level < 0 {
		vm.ArgError(L, 1, "level must be non-negative")
	}
	dbg, ok := L.GetStack(level)
	if !ok {
		vm.ArgError(L, 1, "invalid level")
	}
	f, err := L.GetInfo("f", dbg, lua.LNil)
	if err != nil || f == lua.LNil {
		vm.RaiseText(L, "no function environment for tail call at level %d", level)
	}
	return f.(*lua.LFunction)
}

func getEnvironment(L *lua.LState) int {
	if level, ok := number.Of(L.Get(1)); ok && level > 1 {
		if _, inside := L.GetStack(int(level) - 1); inside {
			if _, ok := L.GetStack(int(level)); !ok {
				return vm.Push(L, L.Env) // the caller of a script or a protected function is not Lua
			}
		}
	}
	f := function(L, true)
	if n, ok := number.Of(L.Get(1)); f.IsG || ok && n == 0 {
		return vm.Push(L, L.Env)
	}
	return vm.Push(L, f.Env)
}

func setEnvironment(L *lua.LState) int {
	env := checkTable(L, 2)
	f := function(L, false)
	if n, ok := number.Of(L.Get(1)); ok && n == 0 {
		L.Env = env
		return 0
	}
	if f.IsG {
		vm.RaiseText(L, "'setfenv' cannot change environment of given object")
	}
	f.Env = env
	return vm.Push(L, f)
}

func (l *library) getMetatable(L *lua.LState) int {
	meta := L.GetMetatable(checkAny(L, 1))
	if meta == l.ofTexts {
		meta = lua.LNil // of the table string, which has none in Lua 5.1
	}
	return vm.Push(L, meta)
}

func setMetatable(L *lua.LState) int {
	t := checkTable(L, 1)
	meta, isTable := L.Get(2).(*lua.LTable)
	if !isTable && (L.Get(2) != lua.LNil || L.GetTop() < 2) {
		vm.ArgError(L, 2, "nil or table expected")
	}
	if old, ok := t.Metatable.(*lua.LTable); ok && old.RawGetString("__metatable") != lua.LNil {
		vm.RaiseText(L, "cannot change a protected metatable")
	}
	if isTable {
		t.Metatable = meta
	} else {
		t.Metatable = lua.LNil
	}
	return vm.Push(L, t)
}

// newProxy creates an empty userdata; true gives it a metatable, another proxy shares its metatable.
func (l *library) newProxy(L *lua.LState) int {
	proxy := &lua.LUserData{Env: L.Env, Metatable: lua.LNil}
	switch v := L.Get(1).(type) {
	case *lua.LNilType:
	case lua.LBool:
		if v {
			proxy.Metatable = L.NewTable()
			l.proxies[proxy.Metatable] = true
		}
	default:
		other, ok := v.(*lua.LUserData)
		if !ok || !l.proxies[other.Metatable] {
			vm.ArgError(L, 1, "boolean or proxy expected")
		}
		proxy.Metatable = other.Metatable
	}
	return vm.Push(L, proxy)
}

func (l *library) print(L *lua.LState) int {
	convert := L.GetGlobal("tostring")
	b := l.text(L, "print")
	for i, n := 1, L.GetTop(); i <= n; i++ {
		if i > 1 {
			b.write("\t")
		}
		v := L.Get(i)
		if convert == l.toString {
			l.warnOfAddress(L, v)
			v = text51(L, v)
		} else {
			v = called(L, convert, v)
		}
		text, ok := number.TextOf(v)
		if !ok {
			vm.RaiseText(L, "'tostring' must return a string to 'print'")
		}
		b.write(text)
	}
	b.write("\n")
	vm.Must(L, emit(l.Options().Stdout, b.String()))
	return 0
}

// warnOfAddress warns once that a table is printed as its address: users of other languages expect to see its
// contents.
func (l *library) warnOfAddress(L *lua.LState, v lua.LValue) {
	if t, ok := v.(*lua.LTable); ok && !l.warned && L.GetMetaField(t, "__tostring") == lua.LNil {
		l.warned = true
		l.Options().Logger.Warn(vm.Where(L, 1) + "a table is printed as its address (" + mistake.Address + ")")
	}
}

func rawEqual(L *lua.LState) int {
	a, b := checkAny(L, 1), checkAny(L, 2)
	vm.Work(L, min(length(L, 1), length(L, 2))/64)
	return vm.Push(L, lua.LBool(a == b))
}

func rawGet(L *lua.LState) int {
	t, key := checkTable(L, 1), checkAny(L, 2)
	vm.Key(L, key)
	return vm.Push(L, t.RawGet(key))
}

func rawSet(L *lua.LState) int {
	t, key, v := checkTable(L, 1), checkAny(L, 2), checkAny(L, 3)
	if key == lua.LNil {
		raiseBare(L, "table index is nil")
	}
	if n, ok := key.(lua.LNumber); ok && n != n {
		raiseBare(L, "table index is NaN")
	}
	vm.Key(L, key)
	t.RawSet(key, v)
	return vm.Push(L, t)
}

func selectFrom(L *lua.LState) int {
	n := L.GetTop()
	if text, ok := L.Get(1).(lua.LString); ok && strings.HasPrefix(string(text), "#") {
		return vm.Push(L, lua.LNumber(n-1))
	}
	from := checkInt(L, 1)
	if from < 0 {
		from += n
	}
	if from < 1 {
		vm.ArgError(L, 1, "index out of range")
	}
	vm.Work(L, n/8)
	return max(n-from, 0)
}

func toNumber(L *lua.LState) int {
	base := optInt(L, 2, 10)
	vm.Work(L, length(L, 1)/8)
	n, ok := lua.LNumber(0), false
	if base == 10 {
		n, ok = number.Of(checkAny(L, 1))
	} else {
		text := checkString(L, 1)
		if base < 2 || base > 36 {
			vm.ArgError(L, 2, "base out of range")
		}
		n, ok = number.ParseBase(text, base)
	}
	if ok {
		return vm.Push(L, n)
	}
	return vm.Push(L, lua.LNil)
}

// text51 implements tostring.
func text51(L *lua.LState, v lua.LValue) lua.LValue {
	switch v := v.(type) {
	case lua.LString:
		if L.GetMetaField(v, "__tostring") == lua.LNil {
			return v
		}
	case lua.LNumber:
		if L.GetMetaField(v, "__tostring") == lua.LNil {
			return lua.LString(number.Text(v))
		}
	}
	if meta := L.GetMetaField(v, "__tostring"); meta != lua.LNil {
		return called(L, meta, v)
	}
	return lua.LString(v.String())
}

// called is like vm.Call for values that may not be functions.
func called(L *lua.LState, f, arg lua.LValue) lua.LValue {
	if f.Type() != lua.LTFunction && L.GetMetaField(f, "__call") == lua.LNil {
		raiseBare(L, "attempt to call a "+f.Type().String()+" value")
	}
	return vm.Call(L, f, arg)
}

func toString(L *lua.LState) int {
	return vm.Push(L, text51(L, checkAny(L, 1)))
}

func typeOf(L *lua.LState) int {
	return vm.Push(L, lua.LString(checkAny(L, 1).Type().String()))
}

// maxUnpack limits the values that unpack returns.
const maxUnpack = 1 << 16

func unpack(L *lua.LState) int {
	t, from := checkTable(L, 1), optInt(L, 2, 1)
	to := optInt(L, 3, table.Length(t))
	if from > to {
		return 0
	}
	n := to - from + 1
	if n <= 0 || n > maxUnpack {
		vm.RaiseText(L, "too many results to unpack")
	}
	vm.Values(L, n)
	for i := from; i <= to; i++ {
		L.Push(table.Element(t, i))
	}
	return n
}

func next(L *lua.LState) int {
	t := checkTable(L, 1)
	last := L.Get(2)
	vm.Key(L, last)
	if last != lua.LNil && t.RawGet(last) == lua.LNil && !table.Had(t, last) {
		raiseBare(L, "invalid key to 'next'")
	}
	key, v := table.Next(t, last)
	if L.Push(key); key == lua.LNil {
		return 1
	}
	L.Push(v)
	return 2
}

// nextOfPairs implements next for pairs, with keys from the table.
func nextOfPairs(L *lua.LState) int {
	t := checkTable(L, 1)
	last := L.Get(2)
	vm.Key(L, last)
	key, v := table.Next(t, last)
	if L.Push(key); key == lua.LNil {
		return 1
	}
	L.Push(v)
	return 2
}

// nextElement implements the iterator of ipairs.
func nextElement(L *lua.LState) int {
	t, i := checkTable(L, 1), checkInt(L, 2)+1
	v := table.Element(t, i)
	if v == lua.LNil {
		return 0
	}
	return vm.Push(L, lua.LNumber(i), v)
}
