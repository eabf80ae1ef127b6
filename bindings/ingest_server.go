package bindings

import (
	"context"
	"iter"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/ingest"
	"transect/client/scan"
	"transect/runtime/module"
	"transect/runtime/sandbox"
)

// server lets goroutines of the engine call Lua functions: the thread that
// called ingest.run carries them out, while it waits for the run.
type server struct {
	c      *module.Call
	asks   chan ask
	over   chan struct{}
	raised lua.LValue // by a Lua function; it ends the run
}

type ask struct {
	do   func(L *lua.LState) error
	done chan error
}

func newServer(c *module.Call) *server {
	return &server{c: c, asks: make(chan ask), over: make(chan struct{})}
}

// serve does the work aside and answers its calls until it ends. What a Lua
// function raised is raised again.
func (s *server) serve(work func(ctx context.Context) error) error {
	L := s.c.L
	ctx, cancel := context.WithCancelCause(s.c.Context())
	defer cancel(nil)
	finished := make(chan error, 1)
	go func() {
		finished <- work(ctx)
		close(s.over)
	}()
	for {
		var next ask
		var err error
		ended := false
		// The work ends by itself when the context does.
		blocked := s.c.Blocking(func(context.Context) error {
			select {
			case next = <-s.asks:
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
			err = fault.In("ingest", err) // before the requests under way take it for their own
			cancel(err)
		}
		next.done <- err
	}
}

// errRaised ends the work after a Lua function raised.
func errRaised() error {
	return fault.Of(&fault.CancelledError{}, "a function of the script failed")
}

// call calls a Lua function from a goroutine of the engine.
func (s *server) call(f *lua.LFunction, arguments func(L *lua.LState) []lua.LValue, take func(lua.LValue) error) error {
	a := ask{done: make(chan error, 1), do: func(L *lua.LState) error {
		top := L.GetTop()
		defer L.SetTop(top)
		L.Push(f)
		args := arguments(L)
		for _, v := range args {
			L.Push(v)
		}
		if err := L.PCall(len(args), 1, nil); err != nil {
			if raised, ok := err.(*lua.ApiError); ok {
				s.raised = raised.Object
			}
			if s.raised == nil || s.raised == lua.LNil {
				s.raised = lua.LString(err.Error())
			}
			return errRaised()
		}
		if take == nil {
			return nil
		}
		return take(L.Get(-1))
	}}
	select {
	case s.asks <- a:
		return <-a.done
	case <-s.over:
		return errRaised()
	}
}

// outcomes tells outcomes to a Lua function.
func (s *server) outcomes(f *lua.LFunction) func(ingest.Outcome) error {
	if f == nil {
		return nil
	}
	return func(o ingest.Outcome) error {
		return s.call(f, func(L *lua.LState) []lua.LValue { return []lua.LValue{outcomeTable(L, o)} }, nil)
	}
}

// verdicts tells verdicts to a Lua function.
func (s *server) verdicts(f *lua.LFunction) func(ingest.Verdict) error {
	if f == nil {
		return nil
	}
	return func(v ingest.Verdict) error {
		return s.call(f, func(L *lua.LState) []lua.LValue { return []lua.LValue{verdictTable(L, v)} }, nil)
	}
}

// pathsAtOnce is how many paths are taken off an iterator before they are
// gathered: files that belong together are found among those.
const pathsAtOnce = 1000

// items gathers the paths that a Lua iterator gives.
func (s *server) items(each *lua.LFunction, source scan.Source) iter.Seq2[scan.Item, error] {
	return func(yield func(scan.Item, error) bool) {
		for more := true; more; {
			var paths []string
			for more && len(paths) < pathsAtOnce {
				err := s.call(each, func(*lua.LState) []lua.LValue { return nil }, func(v lua.LValue) error {
					switch v := v.(type) {
					case *lua.LNilType:
						more = false
						return nil
					case lua.LString:
						path := s.c.In.Path(string(v))
						paths = append(paths, path)
						return s.c.In.Permit(sandbox.Read, path)
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
			for item, err := range scan.Items(s.c.Context(), source) {
				if !yield(item, err) {
					return
				}
			}
		}
	}
}
