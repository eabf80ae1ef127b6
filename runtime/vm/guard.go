package vm

import (
	"context"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// guard runs a protected call or a coroutine on a thread of its own. On an error
// gopher-lua closes the upvalues of all frames of the thread. Callers that continue
// on the same thread would see stale variables in their closures.
//
// guard is also the thread's context until the first instruction. Only then can it
// replace the function that raises errors: gopher-lua sets its own when a thread starts.
type guard struct {
	context.Context // the clock's
	in              *Interp
	th              *lua.LState
	clock           *clock
	owner           *lua.LState // the thread that made the protected call, nil for none
	handler         lua.LValue  // of xpcall, nil for none
	handling        int
	traced          bool // the stack is kept
	catches         bool // the script takes the error
	frames          []Frame
	relay           *lua.LFunction
	deep            bool              // the stack of calls does not grow in pieces
	raised          func(*lua.LState) // raise, made once
}

// Done is called before the first instruction.
func (g *guard) Done() <-chan struct{} {
	g.th.Panic = g.raised
	g.th.SetContext(g.clock)
	return g.clock.Done()
}

// Err belongs to Done.
func (g *guard) Err() error { return g.clock.Err() }

// raise is called with the stack as it was when the error arose, its value on top.
func (g *guard) raise(L *lua.LState) {
	v := L.Get(-1)
	if message, ok := v.(lua.LString); ok && message != g.in.exact {
		v = lua.LString(g.in.explain(L, string(message)))
	}
	if g.traced {
		g.frames = g.in.frames(L)
	}
	g.tell(L, v)
	if g.handler != nil {
		v = g.handle(L, v)
	}
	panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: v, StackTrace: "-"}) // with a trace it makes none
}

// maxHandling bounds how often an error handler may fail while it handles an error,
// nested calls included. Lua 5.1 has room for as many calls of C.
const maxHandling = 221

// handle calls the error handler. An error in the handler is handled in turn.
func (g *guard) handle(L *lua.LState, v lua.LValue) lua.LValue {
	if g.handling >= maxHandling-g.clock.host().nesting {
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

// call calls the function on the thread's stack with n arguments, and leaves the
// results there.
func (g *guard) call(n int) *lua.ApiError {
	th := g.th
	fn, _ := th.Get(-n - 1).(*lua.LFunction)
	if fn != nil && !fn.IsG {
		th.SetContext(g)
	} else {
		th.SetContext(g.clock)
		if g.relay == nil {
			g.relay = g.in.main.NewFunction(func(L *lua.LState) int {
				L.Panic = g.raised
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

// guard takes an idle thread, or makes one, for a task or a protected call in one.
func (in *Interp) guard(protected bool) *guard {
	from := &in.idle
	if protected && (len(in.idleDeep) > 0 || in.deep < maxDeep) {
		from = &in.idleDeep
	}
	if n := len(*from); n > 0 {
		g := (*from)[n-1]
		*from = (*from)[:n-1]
		return g
	}
	return in.newGuard(from == &in.idleDeep)
}

// keep returns a thread for reuse.
func (in *Interp) keep(g *guard) {
	g.owner, g.handler, g.frames = nil, nil, nil
	g.th.SetTop(0)
	if g.deep {
		in.idleDeep = append(in.idleDeep, g)
	} else if len(in.idle) < maxIdle {
		in.idle = append(in.idle, g)
	}
}

// calls holds the nested protected calls of a task. Their threads are kept for reuse.
type calls struct {
	guards []*guard
	depth  int
}

// enter takes the thread for a protected call that owner makes.
func (t *calls) enter(in *Interp, c *clock, owner *lua.LState) *guard {
	if t.depth == len(t.guards) {
		t.guards = append(t.guards, in.guard(true))
	}
	g := t.guards[t.depth]
	t.depth++
	g.catches = false
	if g.owner != owner || g.clock != c { // what is written costs the collector
		g.owner, g.clock, g.Context, g.traced = owner, c, c.Context, false
	}
	return g
}

// exit ends the innermost protected call.
func (t *calls) exit() {
	t.depth--
	g := t.guards[t.depth]
	if g.th.GetTop() > 0 {
		g.th.SetTop(0)
	}
	if g.handler != nil {
		g.handler = nil
	}
}

// free returns the threads for reuse.
func (t *calls) free(in *Interp) {
	for _, g := range t.guards {
		in.keep(g)
	}
	t.guards = nil
}

// ownerOf returns the thread that made the protected call that runs on L, or nil.
func ownerOf(L *lua.LState) *lua.LState {
	c, running := L.Context().(*clock)
	if !running {
		return nil
	}
	calls := &c.host().calls
	guards := calls.guards[:calls.depth]
	for i := len(guards) - 1; i >= 0; i-- {
		if guards[i].th == L {
			return guards[i].owner
		}
	}
	return nil
}

// host returns the task that protected calls belong to: outside of runs the interpreter's.
func (c *clock) host() *Task {
	if c.task != nil {
		return c.task
	}
	return &c.in.outside
}
