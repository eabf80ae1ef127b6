package vm

import (
	"context"
	"errors"

	lua "github.com/yuin/gopher-lua"
)

// slice is how many instructions a task runs before it lets others have the
// lock: well under a millisecond.
const slice = 10_000

// clock is the context every Lua thread runs under. The interpreter asks for
// Done before each instruction, so Done is where time passes: it counts, and
// every so many instructions it ticks. A standard context would take a mutex
// there; this one hands out a channel it keeps.
//
// Done must only be called with the interpreter lock held. Go code gets the
// embedded context instead (see Context).
type clock struct {
	context.Context
	in    *Interp
	task  *Task
	scope *Scope // where spawned tasks go, nil for the task's own
	done  <-chan struct{}
	count int // instructions, up to a slice
	from  int // where count started
}

type clockKey struct{}

func newClock(ctx context.Context, t *Task, s *Scope) *clock {
	return &clock{Context: ctx, in: t.in, task: t, scope: s, done: ctx.Done()}
}

// clockOf finds the clock of a thread, also below a context somebody wrapped
// around it.
func clockOf(L *lua.LState) *clock {
	if c, ok := L.Context().(*clock); ok {
		return c
	}
	return L.Context().Value(clockKey{}).(*clock)
}

func (c *clock) Done() <-chan struct{} {
	c.count++
	if c.count >= slice {
		c.tick()
	}
	if c.in.opt.Line != nil {
		c.line()
	}
	return c.done
}

// tick is called once a slice, or where the limit of instructions is.
func (c *clock) tick() {
	c.spend()
	if c.in.lock.waiting.Load() == 0 {
		return
	}
	g := c.in.main.G
	running := g.CurrentThread
	c.in.lock.release()
	c.in.lock.acquire()
	g.CurrentThread = running
}

// Err is what the interpreter asks for when Done was closed, before it raises:
// the place the run was stopped at.
func (c *clock) Err() error {
	err := c.Context.Err()
	if err != nil && c.in.stoppedAt == nil {
		c.in.stoppedAt = c.in.frames(c.in.main.G.CurrentThread)
	}
	return err
}

func (c *clock) Value(key any) any {
	if key == (clockKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// AfterFunc spares context.WithCancel, which the interpreter wraps around the
// context of each new thread, a goroutine that would never end.
func (c *clock) AfterFunc(f func()) (stop func() bool) {
	return context.AfterFunc(c.Context, f)
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
