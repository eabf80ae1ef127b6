package vm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/compile"
)

// openCoroutines makes coroutines run under the clock of the code that resumes
// them: they are counted, scheduled and cancelled like it.
func (in *Interp) openCoroutines() {
	L := in.main
	lib := L.GetGlobal("coroutine").(*lua.LTable)
	original := func(name string) lua.LGFunction { return lib.RawGetString(name).(*lua.LFunction).GFunction }
	co := &coroutines{in, original("create"), original("resume")}
	for name, f := range map[string]lua.LGFunction{
		"create": co.newThread, "resume": co.resumed, "wrap": co.wrap, "running": co.running, "status": co.statusOf,
	} {
		lib.RawSetString(name, L.NewFunction(f))
	}
	// A tail call cannot yield, so yield is a Lua function that calls.
	lib.RawSetString("yield", L.NewFunctionFromProto(compile.Forward(L.NewFunction(yield))))
}

type coroutines struct {
	in             *Interp
	create, resume lua.LGFunction // gopher-lua's
}

// newThread returns a coroutine with the function that is the first argument.
func (co *coroutines) newThread(L *lua.LState) (n int) {
	if f, ok := L.Get(1).(*lua.LFunction); !ok || f.IsG {
		ArgError(L, 1, "Lua function expected")
	}
	bare(L, func() { n = co.create(L) })
	th := L.Get(-1).(*lua.LState)
	g := &guard{Context: clockOf(L).Context, in: co.in, th: th, clock: clockOf(L), catches: true}
	g.raised = g.raise
	th.SetContext(g)
	return n
}

func (co *coroutines) resumed(L *lua.LState) int {
	return co.run(L, checkThread(L, 1))
}

// run resumes a coroutine with the arguments behind the first, and returns how many
// values it pushed: a boolean, and what was returned or raised.
func (co *coroutines) run(L, th *lua.LState) int {
	refuse := func(reason string) int {
		return Push(L, lua.LFalse, lua.LString(reason))
	}
	if status := co.status(L, th); status != "suspended" {
		return refuse("cannot resume " + status + " coroutine")
	}
	c := clockOf(L)
	if t := c.task; t != nil {
		if t.nesting >= maxNesting {
			return refuse("C stack overflow")
		}
		t.nesting++
		defer func() { t.nesting-- }()
	}
	switch ctx := th.Context().(type) {
	case *guard:
		ctx.clock, ctx.Context = c, c.Context
	default:
		th.SetContext(c)
	}
	n := co.resume(L)
	L.G.CurrentThread = L
	if text, ok := L.Get(-1).(lua.LString); ok && th.Dead && L.Get(-n) == lua.LFalse {
		L.Pop(1)
		L.Push(co.message(string(text)))
	}
	return n
}

// message returns what a coroutine raised. A Go panic comes as text only.
func (co *coroutines) message(text string) lua.LValue {
	if text == "lua callstack overflow" || strings.HasPrefix(text, "runtime error: ") {
		return co.in.panicked(text)
	}
	return lua.LString(text)
}

func (co *coroutines) wrap(L *lua.LState) int {
	co.newThread(L)
	th := L.Get(-1).(*lua.LState)
	th.Context().(*guard).catches = false
	L.Push(L.NewFunction(func(L *lua.LState) int {
		L.Insert(th, 1)
		n := co.run(L, th)
		if L.Get(-n) == lua.LTrue {
			return n - 1
		}
		v := L.Get(-1)
		if text, ok := v.(lua.LString); ok {
			v = lua.LString(Where(L, 1)) + text
		}
		RaiseValue(L, v)
		return 0
	}))
	return 1
}

func (co *coroutines) running(L *lua.LState) int {
	if th := outermost(L); th != co.in.main {
		return Push(L, th)
	}
	return Push(L, lua.LNil)
}

func (co *coroutines) statusOf(L *lua.LState) int {
	return Push(L, lua.LString(co.status(L, checkThread(L, 1))))
}

func (co *coroutines) status(L, th *lua.LState) string {
	switch {
	case th.Dead:
		return "dead"
	case th == outermost(L):
		return "running"
	case th.Parent != nil || th == co.in.main:
		return "normal"
	}
	return "suspended"
}

// outermost returns the thread that scripts see for L: protected calls run on
// hidden threads.
func outermost(L *lua.LState) *lua.LState {
	for owner := ownerOf(L); owner != nil; owner = ownerOf(L) {
		L = owner
	}
	return L
}

// yield gives its arguments to what resumed the coroutine. Everything between must be
// a call that the virtual machine can leave and enter again.
func yield(L *lua.LState) int {
	resumable := L.Parent != nil
	stack(L, 1, func(p place) bool {
		resumable = resumable && !p.fn.IsG && compile.IsCall(p.fn.Proto, p.pc)
		return resumable
	})
	if !resumable {
		L.Error(lua.LString("attempt to yield across metamethod/C-call boundary"), 0)
	}
	return -1
}
