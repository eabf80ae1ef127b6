package vm

import (
	"context"
	"errors"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// timeSlice is how many instructions a task runs before others get the lock:
// well under a millisecond.
const timeSlice = 10_000

// clock is the context of a Lua thread. gopher-lua asks for Done before each
// instruction, so Done counts them. It returns nil, a channel that is never
// ready, until the time slice is used up or a limit is exceeded; only then tick checks
// limits, waiting tasks and cancellation. A standard context costs a mutex and a
// channel operation for each instruction instead.
//
// Done must only be called with the interpreter lock held. Go code uses the
// embedded context (see Context).
type clock struct {
	context.Context
	in    *Interp
	task  *Task
	scope *Scope // where spawned tasks go, nil for the task's own
}

// slice counts the instructions of the lock holder.
type slice struct {
	left    int   // instructions until the next tick
	granted int   // what left started from
	spent   int64 // instructions of earlier slices
}

// end ends the slice: the next instruction ticks.
func (s *slice) end() {
	s.spent += int64(s.granted - s.left)
	s.granted, s.left = 0, 0
}

func clockOf(L *lua.LState) *clock { return L.Context().(*clock) }

func (c *clock) Done() <-chan struct{} {
	c.in.slice.left--
	if c.in.slice.left > 0 && !c.in.exceeded.Load() {
		return nil
	}
	return c.tick()
}

// tick runs at the end of a slice. It returns the channel that says whether to
// stop; no further slice is granted then, so code that catches the error stops
// at its next instruction.
func (c *clock) tick() <-chan struct{} {
	in := c.in
	in.slice.end()
	grant, most := int64(timeSlice), in.opt.Limits.Instructions
	if most > 0 {
		if grant = min(grant, most-in.slice.spent+1); grant <= 0 {
			in.exceed(fault.Hinted(fault.Of(&fault.LimitError{}, "the script ran more than %d instructions", most),
				"allow more with --max-instructions"))
		}
	}
	_ = in.Fits(0) // ends the runs itself
	if in.lock.waiting.Load() > 0 {
		running := in.main.G.CurrentThread
		in.release()
		in.acquire()
		in.main.G.CurrentThread = running
	}
	if in.opt.Line != nil {
		c.line()
		grant = 1
	}
	if c.Context.Err() == nil {
		in.slice.granted, in.slice.left = int(grant), int(grant)
	}
	return c.Context.Done()
}

// Err is what gopher-lua asks for when Done is closed, before it raises: the
// moment to note where the run was stopped.
func (c *clock) Err() error {
	err := c.Context.Err()
	if err != nil && c.in.stoppedAt == nil {
		c.in.stoppedAt = c.in.frames(c.in.main.G.CurrentThread)
	}
	return err
}

// Work counts n steps of work that a Go function does for a script as
// instructions: other tasks get their turn, limits apply, and a cancelled run
// ends here.
func Work(L *lua.LState, n int) {
	c := clockOf(L)
	if c.in.slice.left -= n; c.in.slice.left > 0 {
		return
	}
	c.tick()
	if c.Context.Err() != nil {
		Raise(L, stopped(c.Context))
	}
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
