package bindings

import (
	"context"

	lua "github.com/yuin/gopher-lua"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/vm"
)

// Callbacks lets goroutines of an operation call Lua functions. The thread that called the operation makes
// the calls while it waits for the result.
type Callbacks struct {
	L         *lua.LState
	operation string // named by errors
	requests  chan request
	over      chan struct{}
	raised    lua.LValue // by a Lua function; it ends the operation
}

type request struct {
	do   func(L *lua.LState) error
	done chan error
}

// NewCallbacks returns the callbacks of an operation that a thread calls.
func NewCallbacks(L *lua.LState, operation string) *Callbacks {
	return &Callbacks{L: L, operation: operation, requests: make(chan request), over: make(chan struct{})}
}

// callback wraps a Lua function as an argument of an operation.
func (s *Callbacks) callback(spec *declare.Spec, f *lua.LFunction) schema.Callback {
	return func(value any) error {
		return s.Call(f, func(L *lua.LState) lua.LValue {
			n := pushGo(L, spec, value)
			v := L.Get(-1)
			L.Pop(n)
			return v
		}, nil)
	}
}

// Serve runs work on a goroutine and carries out its calls until it ends. An
// error raised by a Lua function is raised again.
func (s *Callbacks) Serve(work func(ctx context.Context) error) error {
	L := s.L
	ctx, cancel := context.WithCancelCause(vm.Context(s.L))
	defer cancel(nil)
	finished := make(chan error, 1)
	go func() {
		finished <- work(ctx)
		close(s.over)
	}()
	for {
		var next request
		var err error
		ended := false
		// The work ends by itself when the context does.
		blocked := vm.BlockingFor(L, platform(s.operation), func(context.Context) error {
			select {
			case next = <-s.requests:
			case err = <-finished:
				ended = true
			}
			return err
		})
		if ended {
			if s.raised != nil && L.Context().Err() == nil {
				L.Error(s.raised, 0)
			}
			return blocked
		}
		if s.raised != nil {
			next.done <- errRaised()
			continue
		}
		if err = next.do(L); err != nil {
			err = fault.In(s.operation, err) // before requests in progress claim the error
			cancel(err)
		}
		next.done <- err
	}
}

// errRaised ends the work after a Lua function raised.
func errRaised() error {
	return fault.Of(&fault.CancelledError{}, "a function of the script failed")
}

// Call calls a Lua function from a goroutine of the operation, with at most one argument, and passes its
// result to take.
func (s *Callbacks) Call(f *lua.LFunction, argument func(L *lua.LState) lua.LValue, take func(lua.LValue) error) error {
	a := request{done: make(chan error, 1), do: func(L *lua.LState) error {
		var arguments []lua.LValue
		if argument != nil {
			arguments = append(arguments, argument(L))
		}
		values, caught := vm.Try(L, f, arguments...)
		if caught != nil {
			s.raised = caught.Value
			return errRaised()
		}
		if take == nil {
			return nil
		}
		return take(append(values, lua.LNil)[0])
	}}
	select {
	case s.requests <- a:
		return <-a.done
	case <-s.over:
		return errRaised()
	}
}
