package vm

import (
	"context"
	"errors"
	"sync/atomic"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// lock is the interpreter lock. A channel serves waiters in order, which
// sync.Mutex does not: a task that yields after its time slice must not get the
// lock straight back.
type lock struct {
	slot    chan struct{}
	waiting atomic.Int32
}

func newLock() *lock { return &lock{slot: make(chan struct{}, 1)} }

func (l *lock) acquire() {
	select {
	case l.slot <- struct{}{}:
		return
	default:
	}
	l.waiting.Add(1)
	l.slot <- struct{}{}
	l.waiting.Add(-1)
}

func (l *lock) release() { <-l.slot }

// try is acquire where that needs no waiting.
func (l *lock) try() bool {
	select {
	case l.slot <- struct{}{}:
		return true
	default:
		return false
	}
}

func (in *Interp) acquire() { in.lock.acquire() }

func (in *Interp) release() { in.lock.release() }

// Context returns the context of the task that runs L: it ends with the
// task's scope, its time limit or the run.
func Context(L *lua.LState) context.Context { return clockOf(L).located(L) }

// located returns the context of a call, with its line in the script if Options.Located is set.
func (c *clock) located(L *lua.LState) context.Context {
	if at := c.in.opt.Located; at != nil {
		return at(c.Context, CallSite(L))
	}
	return c.Context
}

// Blocking runs f without the interpreter lock, so that other tasks go on
// meanwhile. f must not touch Lua values or L. When the task was cancelled
// while f ran, the reason comes back in place of the bare context error.
func Blocking(L *lua.LState, f func(ctx context.Context) error) error {
	return BlockingFor(L, Waiting{}, f)
}

// BlockingFor is Blocking, with what the task waits for, for observers.
func BlockingFor(L *lua.LState, on Waiting, f func(ctx context.Context) error) error {
	c := clockOf(L)
	c.end() // the next instruction ticks: the task may have been cancelled meanwhile
	ctx, arrived := c.located(L), c.task.leaves(L, c.scope, on)
	c.in.blocked++
	c.in.release()
	defer func() {
		arrived()
		c.in.acquire()
		c.task.returns()
		c.in.blocked--
		L.G.CurrentThread = L // other threads ran in between
	}()
	err := f(ctx)
	if err != nil && c.Context.Err() != nil && isContextError(err) {
		return stopped(c.Context)
	}
	return err
}

// Wait waits for a channel without the lock, or for the end of L's task.
func Wait[T any](L *lua.LState, on <-chan T) (T, error) {
	return WaitFor(L, Waiting{}, on)
}

// WaitFor is Wait, with what the task waits for, for observers.
func WaitFor[T any](L *lua.LState, what Waiting, on <-chan T) (value T, err error) {
	err = BlockingFor(L, what, func(ctx context.Context) error {
		select {
		case value = <-on:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return value, err
}

// outcome returns why the run under ctx was stopped: the reason itself where it
// is an exit or a fault, else a CancelledError.
func outcome(ctx context.Context) error {
	cause := context.Cause(ctx)
	if _, ok := cause.(*Exit); ok || fault.Find(cause) != nil {
		return cause
	}
	return stopped(ctx)
}

// stopped returns the error of a call cut short by ctx: one of its own, since
// several calls fail for one reason and each adds its name.
func stopped(ctx context.Context) error {
	cause := context.Cause(ctx)
	if timeout, ok := errors.AsType[*fault.TimeoutError](cause); ok {
		return fault.Of(&fault.TimeoutError{}, "%s", timeout.Message)
	}
	if cancelled, ok := errors.AsType[*fault.CancelledError](cause); ok {
		return fault.Of(&fault.CancelledError{}, "%s", cancelled.Message)
	}
	err := fault.Of(&fault.CancelledError{}, "the run was stopped")
	if cause != context.Canceled {
		err.Cause = cause
	}
	return err
}
