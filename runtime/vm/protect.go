package vm

import (
	"runtime/debug"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// openProtect replaces the functions that catch errors.
func (in *Interp) openProtect() {
	in.main.SetFuncs(in.main.G.Global, map[string]lua.LGFunction{
		"pcall": func(L *lua.LState) int {
			return pcall(L, nil, Args(L, 2))
		},
		"xpcall": func(L *lua.LState) int {
			L.CheckAny(1)
			return pcall(L, L.CheckFunction(2), Args(L, 3))
		},
		"try": func(L *lua.LState) int { // f's values, or nil and the error
			values, caught := Try(L, L.CheckAny(1), Args(L, 2)...)
			if caught != nil {
				Work(L, catchWork)
				values = []lua.LValue{lua.LNil, caught.Value}
			}
			return Push(L, values)
		},
	})
}

func pcall(L *lua.LState, handler *lua.LFunction, args []lua.LValue) int {
	c := clockOf(L)
	values, caught := c.in.protect(L, c, L.CheckAny(1), args, handler)
	if caught != nil {
		Work(L, catchWork)
		L.Push(lua.LFalse)
		L.Push(caught.Value)
		return 2
	}
	L.Push(lua.LTrue)
	return 1 + Push(L, values)
}

// catchWork is how many instructions a caught error counts as.
const catchWork = 50

// Args copies the arguments of a call from number n on.
func Args(L *lua.LState, n int) []lua.LValue {
	var values []lua.LValue
	for i := n; i <= L.GetTop(); i++ {
		values = append(values, L.Get(i))
	}
	return values
}

// Push returns values from a Lua function.
func Push(L *lua.LState, values []lua.LValue) int {
	for _, v := range values {
		L.Push(v)
	}
	return len(values)
}

// Call calls a function and returns its first value.
func Call(L *lua.LState, f lua.LValue, args ...lua.LValue) lua.LValue {
	L.Push(f)
	L.Call(Push(L, args), 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

// Caught is a value that a protected call raised.
type Caught struct {
	Value lua.LValue // what was raised
	trace string     // gopher-lua's stack trace
}

// Err is the Go error that was raised, nil when a script raised a value of its own.
func (c *Caught) Err() error { return ErrorOf(c.Value) }

// Reraise raises it again, unchanged. It does not return.
func (c *Caught) Reraise(L *lua.LState) { L.Error(c.Value, 0) }

// Try calls fn and returns its values, or what it raised. A call that was
// cancelled raises too: check the context before going on after one.
func Try(L *lua.LState, fn lua.LValue, args ...lua.LValue) ([]lua.LValue, *Caught) {
	c := clockOf(L)
	return c.in.protect(L, c, fn, args, nil)
}

// protect calls fn under clock c and returns its values, or what it raised.
//
// The call runs on a thread of its own: on an error gopher-lua closes the
// upvalues of every frame of the thread, also of the callers that go on, whose
// closures would then see stale variables.
func (in *Interp) protect(L *lua.LState, c *clock, fn lua.LValue, args []lua.LValue, handler *lua.LFunction) ([]lua.LValue, *Caught) {
	if t := c.task; t != nil {
		if t.nesting >= maxNesting {
			return nil, &Caught{Value: lua.LString("stack overflow (too many protected calls inside one another)")}
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
func (in *Interp) call(th *lua.LState, fn lua.LValue, args []lua.LValue, handler *lua.LFunction) ([]lua.LValue, *Caught) {
	if fn.Type() != lua.LTFunction && th.GetMetaField(fn, "__call") == lua.LNil {
		return nil, &Caught{Value: lua.LString("attempt to call a " + fn.Type().String() + " value")}
	}
	th.G.CurrentThread = th
	th.Push(fn)
	for _, a := range args {
		th.Push(a)
	}
	if err := th.PCall(len(args), lua.MultRet, in.closing(th, handler)); err != nil {
		return nil, in.caught(err.(*lua.ApiError))
	}
	values := make([]lua.LValue, th.GetTop())
	for i := range values {
		values[i] = th.Get(i + 1)
	}
	th.SetTop(0)
	return values, nil
}

// closing wraps an error handler. A call with a handler leaves the upvalues of
// the failed frames open while their stack slots are reused; raising once more,
// without a handler, closes them.
func (in *Interp) closing(th *lua.LState, handler *lua.LFunction) *lua.LFunction {
	if handler == nil {
		return nil
	}
	return th.NewFunction(func(L *lua.LState) int {
		err := L.Get(1)
		L.Push(handler)
		L.Push(err)
		L.Call(1, 1)
		result := L.Get(-1)
		L.Push(L.NewFunction(func(L *lua.LState) int { L.RaiseError("close upvalues"); return 0 }))
		_ = L.PCall(0, 0, nil) // raises by design
		L.Push(result)
		return 1
	})
}

// caught turns what gopher-lua recovered into a raised value. Go panics become
// faults.
func (in *Interp) caught(err *lua.ApiError) *Caught {
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
	return &Caught{Value: value, trace: err.StackTrace}
}

// InternalError is a bug of the program itself.
type InternalError struct {
	*fault.RuntimeError
	Stack []byte // of the Go panic
}

// Unwrap returns the fault, for errors.As.
func (e *InternalError) Unwrap() error { return e.RuntimeError }

// Internal makes an error of a recovered panic.
func Internal(panicked any) error {
	return &InternalError{fault.Hinted(fault.Of(&fault.RuntimeError{}, "internal error: %v", panicked),
		"this is a bug in Transect, please report it; TRANSECT_DEBUG=1 prints the stack"), debug.Stack()}
}
