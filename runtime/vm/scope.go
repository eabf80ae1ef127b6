package vm

import (
	"context"
	"errors"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// Scope holds the tasks spawned inside one stretch of code, which does not
// end before they do. The scope of a task lets its code handle a failure
// (await) until the code ends; a strict scope stops everything in it at the
// first failure that no task awaits.
type Scope struct {
	in     *Interp
	task   *Task // whose code it belongs to; nil outside of runs
	ctx    context.Context
	cancel context.CancelCauseFunc
	outer  *Scope // of the same task, nil for none
	live   map[*Task]struct{}
	strict bool
	broken []*Task // failed without being awaited, in order
}

func newScope(c *clock, strict bool) *Scope {
	s := &Scope{in: c.in, task: c.task, outer: c.scope, live: map[*Task]struct{}{}, strict: strict}
	s.ctx, s.cancel = context.WithCancelCause(c.Context)
	return s
}

// current returns the scope that new tasks join.
func (c *clock) current() *Scope {
	if c.scope != nil {
		return c.scope
	}
	if c.task.own == nil {
		c.task.own = newScope(c, false)
	}
	return c.task.own
}

// stop cancels the remaining tasks because another failed.
func (s *Scope) stop() {
	s.cancel(fault.Of(&fault.CancelledError{}, "cancelled because another task of its scope failed"))
}

func (s *Scope) failed(t *Task) {
	s.broken = append(s.broken, t)
	if s.strict {
		s.stop()
	}
}

// unobserved returns the first failure that was not awaited.
func (s *Scope) unobserved() *Caught {
	for _, t := range s.broken {
		if !t.observed {
			return t.failure
		}
	}
	return nil
}

// join ends the scope after its code: with a failure of the code the others are
// cancelled. A failure of a task that was not awaited becomes the code's. It needs
// the lock, and gives it up while it waits.
func (s *Scope) join(failure *Caught) *Caught {
	if s == nil { // nothing was spawned
		return failure
	}
	stopped := s.ctx.Err() != nil // the code's failure follows from another's
	s.strict = true
	if failure != nil || s.unobserved() != nil {
		s.stop()
	}
	for len(s.live) > 0 {
		var t *Task
		for t = range s.live {
			break
		}
		running := s.in.main.G.CurrentThread
		arrived := s.task.leaves(running, s, Waiting{"its tasks", ForTasks})
		s.in.release()
		<-t.done
		arrived()
		s.in.acquire()
		s.task.returns()
		s.in.main.G.CurrentThread = running
	}
	s.cancel(nil)
	if failure == nil || stopped {
		if first := s.unobserved(); first != nil {
			return first
		}
	}
	return failure
}

// TimeLimit is how long a scope may take, and the function that a script called to
// set the limit.
type TimeLimit struct {
	After time.Duration
	By    string
}

// WithScope calls fn(args…) in a scope of its own and returns its values when
// every task spawned inside is over. The first failure, of fn or of a task,
// cancels the rest and is raised. The limit, if not zero, cancels the scope with
// a TimeoutError.
func WithScope(L *lua.LState, limit TimeLimit, fn lua.LValue, args ...lua.LValue) []lua.LValue {
	c := clockOf(L)
	return c.scoped(L, limit, func(inner *clock) ([]lua.LValue, *Caught) {
		return c.in.protect(L, inner, fn, args)
	})
}

// WithContext is WithScope in a context derived from the caller's.
func WithContext(L *lua.LState, with func(context.Context) context.Context, fn lua.LValue,
	args ...lua.LValue) []lua.LValue {
	c := clockOf(L)
	c.end()
	outer := &clock{Context: with(c.Context), in: c.in, task: c.task, scope: c.scope}
	return outer.scoped(L, TimeLimit{}, func(inner *clock) ([]lua.LValue, *Caught) {
		return c.in.protect(L, inner, fn, args)
	})
}

// WithGroup is WithScope for a body in Go. While body runs, L belongs to the
// scope: Spawn adds to it, and Blocking ends when it does. Body may call Lua.
func WithGroup(L *lua.LState, limit TimeLimit, body func() error) {
	c := clockOf(L)
	c.scoped(L, limit, func(inner *clock) (_ []lua.LValue, failure *Caught) {
		L.SetContext(inner)
		defer L.SetContext(c)
		defer func() {
			switch p := recover().(type) {
			case nil:
			case *lua.ApiError:
				failure = c.in.caught(nil, p) // raised again below
			default:
				failure = &Caught{Value: c.in.newError(Internal(p), c.in.frames(L))}
			}
		}()
		if err := body(); err != nil {
			failure = &Caught{Value: c.in.newError(err, c.in.frames(L))}
		}
		return nil, failure
	})
}

// scoped runs body in a scope, and raises the first failure.
func (c *clock) scoped(L *lua.LState, limit TimeLimit, body func(inner *clock) ([]lua.LValue, *Caught)) []lua.LValue {
	s := newScope(c, true)
	if limit.After > 0 {
		reason := fault.Of(&fault.TimeoutError{}, "the time limit of %s passed", limit.After)
		timer := time.AfterFunc(limit.After, func() { s.cancel(reason) })
		defer timer.Stop()
	}
	inner := &clock{Context: s.ctx, in: c.in, task: c.task, scope: s}
	c.end()
	values, failure := body(inner)
	inner.end()
	_, timedOut := context.Cause(s.ctx).(*fault.TimeoutError)
	timedOut = timedOut && failure != nil && c.Context.Err() == nil
	inside := ""
	if timedOut {
		if own, ok := errors.AsType[*fault.TimeoutError](failure.Err()); ok && own.Operation != "" {
			inside = " in " + own.Operation
			timedOut = own.Hint == "" // else the error of the interrupted call has a better hint
		}
	}
	failure = s.join(failure)
	if timedOut && s.unobserved() == nil {
		err := fault.In(limit.By, fault.Of(&fault.TimeoutError{}, "the time limit of %s passed%s", limit.After, inside))
		failure = &Caught{Value: c.in.newError(err, c.in.frames(L))}
	}
	if failure != nil {
		failure.Reraise(L)
	}
	return values
}
