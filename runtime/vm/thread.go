package vm

import (
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

const (
	maxFrames  = 4096    // Lua calls in one thread
	maxValues  = 1 << 20 // stack slots in one thread
	maxNesting = 160     // protected calls and coroutines inside one another
	maxIdle    = 64      // threads kept for reuse
)

func newMainThread() *lua.LState {
	L := lua.NewState(lua.Options{
		CallStackSize:    maxFrames,
		RegistrySize:     4096,
		RegistryMaxSize:  maxValues,
		RegistryGrowStep: 1024,
	})
	// Further threads copy these: they are many, so they start small.
	L.Options.MinimizeStackMemory = true
	L.Options.RegistrySize = 128
	return L
}

// bare runs f while L has no context. Threads made meanwhile get none either,
// which spares wrapping (and leaking) one; the caller sets it.
func bare(L *lua.LState, f func()) {
	ctx := L.RemoveContext()
	defer L.SetContext(ctx)
	f()
}

// thread takes an idle thread, or makes one, and puts it under the clock.
func (in *Interp) thread(c *clock) *lua.LState {
	var th *lua.LState
	if n := len(in.idle); n > 0 {
		th, in.idle = in.idle[n-1], in.idle[:n-1]
	} else {
		bare(in.main, func() { th, _ = in.main.NewThread() })
	}
	th.SetContext(c)
	return th
}

func (in *Interp) keep(th *lua.LState) {
	th.SetTop(0)
	if len(in.idle) < maxIdle && !th.Dead {
		in.idle = append(in.idle, th)
	}
}

// thrown is a raised value on its way to whoever handles it.
type thrown struct {
	value lua.LValue
	trace string // the interpreter's stack trace at the raise
}

// protect calls fn under clock c and returns its values, or what it raised.
//
// The call runs on a thread of its own. The interpreter, on an error, detaches
// the captured locals of every frame of the thread it happened in, also of
// those that go on: after a caught error, closures of the callers would see
// stale variables. On its own thread the failed call only takes its own along.
func (in *Interp) protect(L *lua.LState, c *clock, fn lua.LValue, args []lua.LValue, handler *lua.LFunction) ([]lua.LValue, *thrown) {
	if t := c.task; t != nil {
		if t.nesting >= maxNesting {
			return nil, &thrown{value: lua.LString("stack overflow (too many protected calls inside one another)")}
		}
		t.nesting++
		defer func() { t.nesting-- }()
	}
	th := in.thread(c)
	in.owner[th] = L
	values, err := in.call(th, fn, args, handler)
	delete(in.owner, th)
	L.G.CurrentThread = L
	in.keep(th)
	return values, err
}

// call runs fn on a thread that runs nothing else.
func (in *Interp) call(th *lua.LState, fn lua.LValue, args []lua.LValue, handler *lua.LFunction) ([]lua.LValue, *thrown) {
	if fn.Type() != lua.LTFunction && th.GetMetaField(fn, "__call") == lua.LNil {
		return nil, &thrown{value: lua.LString("attempt to call a " + fn.Type().String() + " value")}
	}
	th.G.CurrentThread = th
	th.Push(fn)
	for _, a := range args {
		th.Push(a)
	}
	if err := th.PCall(len(args), lua.MultRet, in.detaching(th, handler)); err != nil {
		return nil, in.caught(err.(*lua.ApiError))
	}
	values := make([]lua.LValue, th.GetTop())
	for i := range values {
		values[i] = th.Get(i + 1)
	}
	th.SetTop(0)
	return values, nil
}

// detaching wraps an error handler. A call with a handler leaves the captured
// locals of the failed frames attached to stack slots that are about to be
// reused; raising once more, without a handler, detaches them.
func (in *Interp) detaching(th *lua.LState, handler *lua.LFunction) *lua.LFunction {
	if handler == nil {
		return nil
	}
	return th.NewFunction(func(L *lua.LState) int {
		raised := L.Get(1)
		L.Push(handler)
		L.Push(raised)
		L.Call(1, 1)
		result := L.Get(-1)
		L.Push(L.NewFunction(func(L *lua.LState) int { L.RaiseError("detach"); return 0 }))
		_ = L.PCall(0, 0, nil) // raises by design
		L.Push(result)
		return 1
	})
}

// caught turns what the interpreter recovered into a raised value. Go panics
// are ours to be ashamed of: they become a fault that says so.
func (in *Interp) caught(err *lua.ApiError) *thrown {
	value := err.Object
	if value == nil {
		value = lua.LNil
	}
	if err.Type == lua.ApiErrorPanic {
		if value.String() == "lua callstack overflow" {
			value = lua.LString("stack overflow")
		} else {
			value = in.newError(Internal(value.String()), nil)
		}
	}
	if text, ok := value.(lua.LString); ok {
		value = lua.LString(in.explain(string(text)))
	}
	return &thrown{value: value, trace: err.StackTrace}
}

// Internal is the error of a Go panic.
func Internal(what any) error {
	return fault.Hinted(fault.Of(&fault.RuntimeError{}, "internal error: %v", what),
		"this is a fault of Transect, please report it")
}
