package vm

import (
	"context"
	"errors"
	"time"

	lua "github.com/yuin/gopher-lua"
)

const (
	timeSlice  = 10_000               // instructions that a task runs before others get the lock: well under a millisecond
	sliceBytes = 64 << 20             // bytes that instructions go through in a slice: some ten milliseconds
	sliceTime  = 2 * time.Millisecond // after that, slices that are short because of long texts end
	stepTime   = 50 * time.Nanosecond // counts as an instruction where long texts take time
)

// clock is the context of a Lua thread. gopher-lua calls Done before each
// instruction, so Done counts them. It returns nil, a channel that is never
// ready, until the time slice is used up; only then tick checks limits, waiting
// tasks and cancellation. A standard context costs a mutex and a channel
// operation for each instruction instead.
//
// Done must only be called with the interpreter lock held. Go code uses the
// embedded context (see Context).
type clock struct {
	left    int // instructions until the next tick
	granted int // what left started from
	held    int // of it, what is not in left, while each instruction ticks

	context.Context
	in    *Interp
	task  *Task
	scope *Scope // where spawned tasks go, nil for the task's own
	slice int    // instructions that are left of the time slice

	began, ticked time.Time // the slice, and the last tick of it, while there are long texts
}

func clockOf(L *lua.LState) *clock { return L.Context().(*clock) }

// Done is called before each instruction.
func (c *clock) Done() <-chan struct{} {
	c.left--
	if c.left > 0 {
		return nil
	}
	return c.tick()
}

// end ends the slice: the next instruction ticks.
func (c *clock) end() {
	used := c.used()
	c.in.spent += int64(used)
	c.slice -= used
	c.granted, c.left, c.held = 0, 0, 0
	c.ticked = time.Time{}
}

// used returns how many instructions of the grant have run.
func (c *clock) used() int { return c.granted - c.left - c.held }

// charge counts the time since the last tick as instructions, as far as it may have
// gone to long texts.
func (c *clock) charge() {
	if c.ticked.IsZero() {
		return
	}
	used, steps := int64(c.used()), int64(time.Since(c.ticked)/stepTime)
	c.in.spent += max(0, min(steps, used*int64(c.in.longest)/perWork)-used)
}

// tick runs when the granted instructions are used up. It returns the channel that reports whether to stop; nothing
// is granted then, so code that catches the error stops at its next instruction.
//
// One instruction may go through a whole text: compare it, hash it. So no more
// instructions are granted at a time than the longest text of the run allows; within
// a time slice only cancellation is checked then.
func (c *clock) tick() <-chan struct{} {
	if c.held > 0 && c.looked() {
		return nil
	}
	in := c.in
	c.charge()
	c.end()
	if in.opt.Step != nil && c.task != nil && c.Context.Err() == nil {
		running := in.main.G.CurrentThread
		in.opt.Step(running)
		in.main.G.CurrentThread = running
	}
	if in.current != c || c.slice <= 0 || in.longest > 0 && time.Since(c.began) > sliceTime {
		c.nextSlice()
	}
	if c.Context.Err() == nil {
		grant := c.slice
		if in.longest > 0 {
			grant = max(1, min(grant, sliceBytes/in.longest))
			c.ticked = time.Now()
		}
		if in.opt.Line != nil {
			c.line()
			grant = 1
		}
		if in.opt.Step != nil {
			grant = 1
		}
		c.granted, c.left = grant, grant
		c.hold()
	}
	return c.Context.Done()
}

// nextSlice begins a time slice, after other tasks had theirs.
func (c *clock) nextSlice() {
	in := c.in
	in.current = c
	slice, most := int64(timeSlice), in.opt.Limits.Instructions
	if most > 0 {
		if slice = min(slice, most-in.spent+1); slice <= 0 {
			in.exceed(in.overLimit("", "--max-instructions", "the script ran more than %d instructions", most))
		}
	}
	_ = in.fits(0, true) // ends the runs itself
	if in.lock.waiting.Load() > 0 {
		running := in.main.G.CurrentThread
		if c.task != nil {
			c.task.thread, c.task.scope = running, c.scope
			if c.task.track != nil {
				c.task.track.Pause()
			}
		}
		in.release()
		in.acquire()
		c.task.returns()
		in.main.G.CurrentThread = running
		in.current = c
	}
	c.slice = int(slice)
	if in.longest > 0 {
		c.began = time.Now()
	}
}

// Err is called by gopher-lua when Done is closed, before it raises: the moment
// to note where the run was stopped.
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
	if c.left -= n; c.left > 0 {
		return
	}
	c.tick()
	if c.Context.Err() != nil {
		Raise(L, stopped(c.Context))
	}
}

// Values counts that a function puts n values on the stack, where one instruction may
// copy them.
func Values(L *lua.LState, n int) {
	const slot = 16 // bytes
	Of(L).note(n * slot)
	Work(L, n/4)
}

// note keeps the length of the longest text, or the size of the longest list of
// values, that one instruction may go through.
func (in *Interp) note(bytes int) {
	const unnoticed = sliceBytes / timeSlice
	if bytes > unnoticed && bytes > in.longest {
		in.longest = bytes
		if in.current != nil {
			in.current.end()
		}
	}
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
