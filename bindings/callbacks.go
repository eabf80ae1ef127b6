package bindings

import (
	"context"
	"iter"

	lua "github.com/yuin/gopher-lua"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/scan"
	"transect/client/schema"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// callbacks lets goroutines of an operation call Lua functions. The thread that
// called the operation carries the calls out while it waits for the result.
type callbacks struct {
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

func newCallbacks(L *lua.LState, operation string) *callbacks {
	return &callbacks{L: L, operation: operation, requests: make(chan request), over: make(chan struct{})}
}

// callback is a Lua function as an argument of an operation.
func (s *callbacks) callback(spec *declare.Spec, f *lua.LFunction) schema.Callback {
	return func(value any) error {
		return s.call(f, func(L *lua.LState) lua.LValue {
			n := pushGo(L, spec, value)
			v := L.Get(-1)
			L.Pop(n)
			return v
		}, nil)
	}
}

// serve runs work on a goroutine and carries out its calls until it ends. An
// error raised by a Lua function is raised again.
func (s *callbacks) serve(work func(ctx context.Context) error) error {
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
			err = fault.In(s.operation, err) // before the requests under way take it for their own
			cancel(err)
		}
		next.done <- err
	}
}

// errRaised ends the work after a Lua function raised.
func errRaised() error {
	return fault.Of(&fault.CancelledError{}, "a function of the script failed")
}

// call calls a Lua function from a goroutine of the engine, with an argument or
// none, and takes its result.
func (s *callbacks) call(f *lua.LFunction, argument func(L *lua.LState) lua.LValue, take func(lua.LValue) error) error {
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

// forEach makes a Go callback of a Lua function that takes a table; nil of none.
func forEach[T any](s *callbacks, f *lua.LFunction, table func(*lua.LState, T) lua.LValue) func(T) error {
	if f == nil {
		return nil
	}
	return func(v T) error {
		return s.call(f, func(L *lua.LState) lua.LValue { return table(L, v) }, nil)
	}
}

// pathsAtOnce is how many paths are taken off an iterator before they are
// gathered: files that belong together are found among those.
const pathsAtOnce = 1000

// items gathers the paths that a Lua iterator gives.
func (s *callbacks) items(each *lua.LFunction, source scan.Source) iter.Seq2[scan.Item, error] {
	return func(yield func(scan.Item, error) bool) {
		for more := true; more; {
			var paths []string
			for more && len(paths) < pathsAtOnce {
				err := s.call(each, nil, func(v lua.LValue) error {
					switch v := v.(type) {
					case *lua.LNilType:
						more = false
						return nil
					case lua.LString:
						path := vm.Of(s.L).Path(string(v))
						paths = append(paths, path)
						return vm.Of(s.L).Permit(sandbox.Read, path)
					}
					return fault.Of(&fault.ParameterError{}, "the iterator source must give paths, got a %s", v.Type())
				})
				if err != nil {
					yield(scan.Item{}, err)
					return
				}
			}
			if len(paths) == 0 {
				return
			}
			source.Paths = paths
			for item, err := range scan.Items(vm.Context(s.L), source) {
				if !yield(item, err) {
					return
				}
			}
		}
	}
}
