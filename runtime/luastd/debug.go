package luastd

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/compile"
	"transect/runtime/engine/number"
	"transect/runtime/vm"
)

func (l *library) openDebug(L *lua.LState) {
	const hooks = "nothing can interrupt code at its lines; limits are given by --timeout and --max-instructions"
	set(L, "debug", map[string]lua.LGFunction{
		"getfenv": debugGetEnvironment, "setfenv": debugSetEnvironment, "getinfo": l.getInfo,
		"getlocal": getLocal, "setlocal": setLocal, "getmetatable": rawMetatable, "setmetatable": setRawMetatable,
		"getupvalue": getUpvalue, "setupvalue": setUpvalue, "traceback": traceback,
		"sethook": absent("debug.sethook", hooks), "gethook": noHook,
		"getregistry": absent("debug.getregistry", "what it holds belongs to the interpreter"),
		"debug":       absent("debug.debug", "use transect repl"),
	})
}

// noHook implements debug.gethook: no hook is ever set.
func noHook(L *lua.LState) int { return vm.Push(L, lua.LNil, lua.LString(""), lua.LNumber(0)) }

func debugGetEnvironment(L *lua.LState) int {
	return vm.Push(L, L.GetFEnv(checkAny(L, 1)))
}

func debugSetEnvironment(L *lua.LState) int {
	env := checkTable(L, 2)
	switch v := L.Get(1).(type) {
	case *lua.LFunction:
		v.Env = env
	case *lua.LUserData:
		v.Env = env
	case *lua.LState:
		v.Env = env
	default:
		vm.RaiseText(L, "'setfenv' cannot change environment of given object")
	}
	return vm.Push(L, L.Get(1))
}

func rawMetatable(L *lua.LState) int {
	switch v := checkAny(L, 1).(type) {
	case *lua.LTable:
		L.Push(v.Metatable)
	case *lua.LUserData:
		L.Push(v.Metatable)
	default:
		L.Push(L.GetMetatable(v))
	}
	return 1
}

func setRawMetatable(L *lua.LState) int {
	if _, ok := L.Get(2).(*lua.LTable); !ok && (L.Get(2) != lua.LNil || L.GetTop() < 2) {
		vm.ArgError(L, 2, "nil or table expected")
	}
	L.SetMetatable(L.Get(1), L.Get(2))
	return vm.Push(L, lua.LTrue)
}

// thread returns the thread for a function of debug: the first argument, or the running one. shift is the
// number of arguments used.
func thread(L *lua.LState) (th *lua.LState, shift int) {
	if th, ok := L.Get(1).(*lua.LState); ok {
		return th, 1
	}
	return L, 0
}

func (l *library) getInfo(L *lua.LState) int {
	th, shift := thread(L)
	options := optString(L, shift+2, "flnSu")
	t := L.NewTable()
	dbg := &lua.Debug{}
	what, name := "", ""
	f, isFunction := L.Get(shift + 1).(*lua.LFunction)
	if !isFunction {
		level, ok := number.Of(L.Get(shift + 1))
		if !ok {
			vm.ArgError(L, shift+1, "function or level expected")
		}
		if dbg, ok = th.GetStack(integer(level)); !ok || level < 0 {
			return vm.Push(L, lua.LNil)
		}
		v, err := th.GetInfo("f", dbg, lua.LNil)
		if f, isFunction = v.(*lua.LFunction); err != nil || !isFunction {
			return vm.Push(L, lua.LNil)
		}
		what, name = vm.CalledAs(th, integer(level))
	}
	vm.Work(L, stackDepth(th)/8)
	query := "Slu"
	if isFunction && L.Get(shift+1) == lua.LValue(f) {
		query = ">" + query
	}
	if _, err := th.GetInfo(query, dbg, f); err != nil {
		return vm.Push(L, lua.LNil)
	}
	for _, option := range options {
		switch option {
		case 'S':
			l.source(t, f, dbg)
		case 'l':
			line := compile.Line(dbg.CurrentLine)
			if f.IsG || line <= 0 {
				line = -1
			}
			t.RawSetString("currentline", lua.LNumber(line))
		case 'u':
			t.RawSetString("nups", lua.LNumber(dbg.NUpvalues))
		case 'n':
			t.RawSetString("namewhat", lua.LString(what))
			if name != "" {
				t.RawSetString("name", lua.LString(name))
			}
		case 'L':
			if !f.IsG {
				t.RawSetString("activelines", activeLines(L, f))
			}
		case 'f':
			t.RawSetString("func", f)
		default:
			vm.ArgError(L, shift+2, "invalid option")
		}
	}
	return vm.Push(L, t)
}

// source sets the fields about where a function was defined.
func (l *library) source(t *lua.LTable, f *lua.LFunction, dbg *lua.Debug) {
	name, short, what := "=[C]", "[C]", "C"
	first, last := -1, -1
	if !f.IsG {
		name, short, what = "@"+dbg.Source, dbg.Source, "Lua"
		if chunk, ok := l.chunks[short]; ok {
			name = chunk
		}
		first, last = dbg.LineDefined, dbg.LastLineDefined
		if isMain(f) {
			what = "main"
		}
	}
	t.RawSetString("source", lua.LString(name))
	t.RawSetString("short_src", lua.LString(short))
	t.RawSetString("what", lua.LString(what))
	t.RawSetString("linedefined", lua.LNumber(first))
	t.RawSetString("lastlinedefined", lua.LNumber(last))
}

// isMain reports whether a function is a whole chunk.
func isMain(f *lua.LFunction) bool { return !f.IsG && f.Proto.LineDefined == 0 }

func activeLines(L *lua.LState, f *lua.LFunction) *lua.LTable {
	t := L.NewTable()
	for _, position := range f.Proto.DbgSourcePositions {
		line := compile.Line(position)
		t.RawSetInt(line, lua.LTrue)
	}
	return t
}

// level returns the level of a thread for a function of debug. shift is the number of arguments that name the
// thread.
func level(L *lua.LState) (th *lua.LState, dbg *lua.Debug, shift int) {
	th, shift = thread(L)
	dbg, ok := th.GetStack(checkInt(L, shift+1))
	if !ok || checkInt(L, shift+1) < 0 {
		vm.ArgError(L, shift+1, "level out of range")
	}
	return th, dbg, shift
}

func getLocal(L *lua.LState) int {
	th, dbg, shift := level(L)
	if i := checkInt(L, shift+2); i >= 1 {
		if name, v := th.GetLocal(dbg, i); name != "" {
			return vm.Push(L, lua.LString(name), v)
		}
	}
	return vm.Push(L, lua.LNil)
}

func setLocal(L *lua.LState) int {
	th, dbg, shift := level(L)
	v := checkAny(L, shift+3)
	if name := th.SetLocal(dbg, checkInt(L, shift+2), v); name != "" {
		return vm.Push(L, lua.LString(name))
	}
	return vm.Push(L, lua.LNil)
}

func getUpvalue(L *lua.LState) int {
	i := checkInt(L, 2)
	f := checkFunction(L, 1)
	if f.IsG {
		return 0
	}
	name, v := L.GetUpvalue(f, i)
	if name == "" {
		return 0
	}
	return vm.Push(L, lua.LString(name), v)
}

func setUpvalue(L *lua.LState) int {
	v, i := checkAny(L, 3), checkInt(L, 2)
	f := checkFunction(L, 1)
	if f.IsG {
		return 0
	}
	name := L.SetUpvalue(f, i, v)
	if name == "" {
		return 0
	}
	return vm.Push(L, lua.LString(name))
}

func stackDepth(L *lua.LState) (n int) {
	for {
		if _, ok := L.GetStack(n); !ok {
			return n
		}
		n += 64
	}
}

const (
	firstLevels = 12 // of a traceback, before omitted ones
	lastLevels  = 10
)

func traceback(L *lua.LState) int {
	th, shift := thread(L)
	level := 1
	if th != L {
		level = 0
	}
	if n, ok := number.Of(L.Get(shift + 2)); ok {
		level = integer(n)
	}
	message := ""
	if L.GetTop() > shift {
		text, ok := number.TextOf(L.Get(shift + 1))
		if !ok {
			return vm.Push(L, L.Get(shift+1))
		}
		message = text + "\n"
	}
	depth := level
	for {
		if _, ok := th.GetStack(depth); !ok {
			break
		}
		depth++
	}
	vm.Work(L, depth*depth/16) // each level is counted from the top
	var b strings.Builder
	b.WriteString(message + "stack traceback:")
	for at := level; at < depth; at++ {
		if at == level+firstLevels && depth-at > lastLevels {
			b.WriteString("\n\t...")
			at = depth - lastLevels
		}
		b.WriteString("\n\t" + levelText(th, at))
	}
	return vm.Push(L, lua.LString(b.String()))
}

// levelText returns one line of a traceback.
func levelText(th *lua.LState, level int) string {
	dbg, _ := th.GetStack(level)
	v, err := th.GetInfo("fSl", dbg, lua.LNil)
	f, ok := v.(*lua.LFunction)
	if err != nil || !ok {
		return "(tail call): ?"
	}
	where := "[C]:"
	if !f.IsG && dbg.Source != "[C]" {
		where = fmt.Sprintf("%s:%d:", dbg.Source, compile.Line(dbg.CurrentLine))
	}
	_, name := vm.CalledAs(th, level)
	switch {
	case name != "":
		return where + " in function '" + name + "'"
	case isMain(f):
		return where + " in main chunk"
	case f.IsG:
		return where + " ?"
	}
	return fmt.Sprintf("%s in function <%s:%d>", where, dbg.Source, f.Proto.LineDefined)
}
