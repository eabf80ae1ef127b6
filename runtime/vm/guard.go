package vm

import (
	"context"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// guard is a thread on which a protected call or a coroutine runs. On an error
// gopher-lua closes the upvalues of every frame of the thread, also of callers that
// go on, whose closures would then see stale variables: so protected calls have
// threads of their own.
//
// It is the thread's context until the first instruction, which is when what the
// thread raises with can be replaced: gopher-lua sets its own as it starts the thread.
type guard struct {
	context.Context // the clock's
	in              *Interp
	th              *lua.LState
	clock           *clock
	owner           *lua.LState // the thread that made the protected call, nil for none
	handler         lua.LValue  // of xpcall, nil for none
	handling        int
	traced          bool // the stack is kept
	frames          []Frame
	relay           *lua.LFunction
	deep            bool // the stack of calls does not grow in pieces
}

// Done is called before the first instruction.
func (g *guard) Done() <-chan struct{} {
	g.th.Panic = g.raise
	g.th.SetContext(g.clock)
	return g.clock.Done()
}

// Err belongs to Done.
func (g *guard) Err() error { return g.clock.Err() }

// raise is called with the stack as it was when the error arose, its value on top.
func (g *guard) raise(L *lua.LState) {
	v := L.Get(-1)
	if message, ok := v.(lua.LString); ok {
		v = lua.LString(g.in.explain(L, string(message)))
	}
	if g.traced {
		g.frames = g.in.frames(L)
	}
	if g.handler != nil {
		v = g.handle(L, v)
	}
	panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: v, StackTrace: "-"}) // with a trace it makes none
}

// maxHandling is how often an error handler may fail while it handles an error.
const maxHandling = 10

// handle calls the error handler, for which an error in it is one more.
func (g *guard) handle(L *lua.LState, v lua.LValue) lua.LValue {
	if g.handling >= maxHandling {
		return lua.LString("error in error handling")
	}
	g.handling++
	defer func() { g.handling-- }()
	if text, ok := v.(lua.LString); ok && strings.HasSuffix(string(text), "stack overflow") {
		values, caught := g.in.protect(L, g.clock, g.handler, []lua.LValue{v}) // there is no room on this thread
		if caught == nil && len(values) > 0 {
			return values[0]
		}
		return lua.LString("error in error handling")
	}
	return Call(L, g.handler, v)
}

// call calls what was pushed on the thread, with n arguments. It leaves the values on
// the thread.
func (g *guard) call(n int) *lua.ApiError {
	th := g.th
	fn, _ := th.Get(-n - 1).(*lua.LFunction)
	if fn != nil && !fn.IsG {
		th.SetContext(g)
	} else {
		th.SetContext(g.clock)
		if g.relay == nil {
			g.relay = g.in.main.NewFunction(func(L *lua.LState) int {
				L.Panic = g.raise
				L.Call(L.GetTop()-1, lua.MultRet)
				return L.GetTop()
			})
		}
		th.Insert(g.relay, 1)
		n++
	}
	th.G.CurrentThread = th
	if err := th.PCall(n, lua.MultRet, nil); err != nil {
		return err.(*lua.ApiError)
	}
	return nil
}

// guard takes an idle thread, or makes one, and puts it under the clock. owner is the
// thread that calls, nil for a task.
func (in *Interp) guard(c *clock, owner *lua.LState) *guard {
	var g *guard
	if n := len(in.idle); n > 0 {
		g, in.idle = in.idle[n-1], in.idle[:n-1]
	} else {
		g = in.newGuard(owner != nil)
	}
	g.Context, g.clock, g.owner, g.traced = c.Context, c, owner, owner == nil
	if owner != nil {
		in.guards = append(in.guards, g)
	}
	return g
}

// keep gives a thread back.
func (in *Interp) keep(g *guard) {
	if g.owner != nil {
		if n := len(in.guards); in.guards[n-1] == g {
			in.guards = in.guards[:n-1]
		} else {
			in.guards = slices.DeleteFunc(in.guards, func(other *guard) bool { return other == g })
		}
	}
	g.owner, g.handler, g.frames = nil, nil, nil
	g.th.SetTop(0)
	if len(in.idle) < maxIdle && !g.th.Dead {
		in.idle = append(in.idle, g)
	}
}

// ownerOf is the thread that made the protected call that runs on L, or nil.
func (in *Interp) ownerOf(L *lua.LState) *lua.LState {
	for i := len(in.guards) - 1; i >= 0; i-- {
		if in.guards[i].th == L {
			return in.guards[i].owner
		}
	}
	return nil
}
