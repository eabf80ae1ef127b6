package vm

import lua "github.com/yuin/gopher-lua"

// openCoroutines makes coroutines run under the clock of the code that resumes
// them: they are counted, scheduled and cancelled like it.
func (in *Interp) openCoroutines() {
	L := in.main
	lib := L.GetGlobal("coroutine").(*lua.LTable)
	original := func(name string) lua.LGFunction {
		return lib.RawGetString(name).(*lua.LFunction).GFunction
	}
	create, wrap, resume := original("create"), original("wrap"), original("resume")
	status := original("status")

	enter := func(L, th *lua.LState) func() {
		c := clockOf(L)
		if c.task != nil {
			if c.task.nesting >= maxNesting {
				L.RaiseError("stack overflow (too many coroutines inside one another)")
			}
			c.task.nesting++
		}
		if !th.Dead {
			th.SetContext(c)
		}
		return func() {
			if c.task != nil {
				c.task.nesting--
			}
			L.G.CurrentThread = L // not restored by itself when a wrapped coroutine raises
		}
	}
	lib.RawSetString("create", L.NewFunction(func(L *lua.LState) (n int) {
		L.CheckFunction(1)
		bare(L, func() { n = create(L) })
		L.Get(-1).(*lua.LState).SetContext(clockOf(L))
		return n
	}))
	lib.RawSetString("resume", L.NewFunction(func(L *lua.LState) int {
		defer enter(L, L.CheckThread(1))()
		return resume(L)
	}))
	lib.RawSetString("wrap", L.NewFunction(func(L *lua.LState) int {
		L.CheckFunction(1)
		bare(L, func() { wrap(L) })
		// What wrap returned keeps its thread as an upvalue.
		th := L.Get(-1).(*lua.LFunction).Upvalues[0].Value().(*lua.LState)
		th.SetContext(clockOf(L))
		L.Push(L.NewFunction(func(L *lua.LState) int {
			defer enter(L, th)()
			L.Insert(th, 1)
			return resume(L)
		}))
		return 1
	}))
	lib.RawSetString("running", L.NewFunction(func(L *lua.LState) int {
		th := in.outermost(L)
		if th == in.main {
			return 0
		}
		L.Push(th)
		return 1
	}))
	lib.RawSetString("status", L.NewFunction(func(L *lua.LState) int {
		if th := L.CheckThread(1); th == in.outermost(L) && th != L {
			L.Push(lua.LString("running"))
			return 1
		}
		return status(L)
	}))
}

// outermost is the thread that scripts know L as: protected calls run on hidden
// threads.
func (in *Interp) outermost(L *lua.LState) *lua.LState {
	for in.owner[L] != nil {
		L = in.owner[L]
	}
	return L
}
