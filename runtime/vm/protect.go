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
			checkAny(L, 1)
			return pcall(L, nil)
		},
		"xpcall": func(L *lua.LState) int {
			checkAny(L, 2)
			handler := L.Get(2)
			L.SetTop(1)
			return pcall(L, handler)
		},
		"try": func(L *lua.LState) int { // f's values, or nil and the error
			f := checkAny(L, 1)
			if f.Type() != lua.LTFunction && L.GetMetaField(f, "__call") == lua.LNil {
				RaiseText(L, "try takes a function and its arguments, try(f, …), got a %s", f.Type())
			}
			values, caught := Try(L, f, Args(L, 2)...)
			if caught != nil {
				Work(L, catchWork)
				values = []lua.LValue{lua.LNil, caught.Value}
			}
			return Push(L, values...)
		},
	})
}

// pcall calls the first argument with the others, which it copies to the thread of the
// call, and moves the values back.
func pcall(L *lua.LState, handler lua.LValue) int {
	c := clockOf(L)
	in, top := c.in, L.GetTop()
	g, caught := in.enter(L, c, L.Get(1), handler)
	if caught == nil {
		g.catches = true
		for i := 1; i <= top; i++ {
			g.th.Push(L.Get(i))
		}
		failed := g.call(top - 1)
		L.G.CurrentThread = L
		if failed == nil {
			L.Push(lua.LTrue)
			values := g.th.GetTop()
			g.th.XMoveTo(L, values)
			g.exit()
			return 1 + values
		}
		caught = in.caught(g, failed)
		g.exit()
	}
	Work(L, catchWork)
	return Push(L, lua.LFalse, caught.Value)
}

// enter takes a thread for a protected call, unless the call is refused.
func (in *Interp) enter(L *lua.LState, c *clock, fn, handler lua.LValue) (*guard, *Caught) {
	t := c.host()
	if t.nesting >= maxNesting {
		return nil, &Caught{Value: lua.LString("C stack overflow")}
	}
	if fn.Type() != lua.LTFunction && L.GetMetaField(fn, "__call") == lua.LNil {
		caught := &Caught{Value: lua.LString("attempt to call a " + fn.Type().String() + " value")}
		if handler != nil {
			values, failed := in.protect(L, c, handler, []lua.LValue{caught.Value})
			switch {
			case failed != nil:
				caught = failed
			case len(values) > 0:
				caught.Value = values[0]
			default:
				caught.Value = lua.LNil
			}
		}
		return nil, caught
	}
	t.nesting++
	g := t.calls.enter(in, c, L)
	if handler != nil {
		g.handler = handler
	}
	return g, nil
}

// exit ends a protected call.
func (g *guard) exit() {
	t := g.clock.host()
	t.nesting--
	t.calls.exit()
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
func Push(L *lua.LState, values ...lua.LValue) int {
	for _, v := range values {
		L.Push(v)
	}
	return len(values)
}

// Call calls a function and returns its first value.
func Call(L *lua.LState, f lua.LValue, args ...lua.LValue) lua.LValue {
	if f.Type() != lua.LTFunction && L.GetMetaField(f, "__call") == lua.LNil {
		L.Error(lua.LString(typeError("call", "", f.Type().String())), 0)
	}
	L.Push(f)
	L.Call(Push(L, args...), 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

// Caught is a value that a protected call raised.
type Caught struct {
	Value  lua.LValue  // what was raised
	trace  []Frame     // where, if that is known
	raised *errorValue // the error behind a text
}

// Err returns the Go error that was raised, nil when a script raised a value of its own.
func (c *Caught) Err() error {
	if c.raised != nil {
		return c.raised.err
	}
	return ErrorOf(c.Value)
}

// Reraise raises it again, unchanged. It does not return.
func (c *Caught) Reraise(L *lua.LState) { RaiseValue(L, c.Value) }

// Try calls fn and returns its values, or what it raised. A call that was
// cancelled raises too: check the context before going on after one.
func Try(L *lua.LState, fn lua.LValue, args ...lua.LValue) ([]lua.LValue, *Caught) {
	c := clockOf(L)
	g, refused := c.in.enter(L, c, fn, nil)
	if refused != nil {
		return nil, refused
	}
	g.catches = true
	return g.ended(L, fn, args)
}

// protect calls fn under clock c and returns its values, or what it raised.
func (in *Interp) protect(L *lua.LState, c *clock, fn lua.LValue, args []lua.LValue) ([]lua.LValue, *Caught) {
	g, refused := in.enter(L, c, fn, nil)
	if refused != nil {
		return nil, refused
	}
	return g.ended(L, fn, args)
}

// ended calls fn, and ends the protected call.
func (g *guard) ended(L *lua.LState, fn lua.LValue, args []lua.LValue) ([]lua.LValue, *Caught) {
	defer g.exit()
	values, caught := g.values(fn, args)
	L.G.CurrentThread = L
	return values, caught
}

// values calls fn on the thread and returns its values, or what it raised.
func (g *guard) values(fn lua.LValue, args []lua.LValue) ([]lua.LValue, *Caught) {
	g.th.Push(fn)
	Push(g.th, args...)
	if failed := g.call(len(args)); failed != nil {
		return nil, g.in.caught(g, failed)
	}
	values := make([]lua.LValue, g.th.GetTop())
	for i := range values {
		values[i] = g.th.Get(i + 1)
	}
	g.th.SetTop(0)
	return values, nil
}

// caught turns what gopher-lua recovered into a raised value. Go panics become
// faults.
func (in *Interp) caught(g *guard, err *lua.ApiError) *Caught {
	value := err.Object
	if value == nil {
		value = lua.LNil
	}
	if err.Type == lua.ApiErrorPanic {
		value = in.panicked(value.String())
	}
	caught := &Caught{Value: value}
	if text, ok := value.(lua.LString); ok && string(text) == in.last.message {
		caught.raised = in.last.raised
	}
	if g != nil {
		caught.trace = g.frames
	}
	return caught
}

// panicked returns the error value of a Go panic.
func (in *Interp) panicked(text string) lua.LValue {
	if text == "lua callstack overflow" {
		return lua.LString("stack overflow")
	}
	return in.newError(Internal(text), nil)
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
