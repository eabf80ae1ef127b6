package vm

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/compile"
)

// Observer measures where the time of a run goes.
type Observer interface {
	// Track returns the track of a new task that runs a function; the task waits for its first turn.
	Track(function CallFrame) Track
	// Due reports whether the running task should be sampled, and for how long already.
	Due() (late time.Duration, due bool)
}

// Track follows one task. Its methods are called with the interpreter lock held.
type Track interface {
	In(ctx context.Context) context.Context // a context whose requests belong to the task
	Run()                                   // the task has got its turn
	Pause()                                 // the task gives up its turn to others
	Sample(stack []CallFrame)               // where the task is, outermost first
	Finish()                                // the task has ended
	// Wait ends the turn of the task, at the end of a stack. end ends the wait; it does not need the lock.
	Wait(stack []CallFrame, on Waiting) (end func())
}

// CallFrame is a function on a stack of calls and the line that it is at.
type CallFrame struct {
	Function, File string
	Line           int
	Begins         int // the line that the function begins at
}

// Waiting describes what a task waits for in BlockingFor.
type Waiting struct {
	Name string // an operation, a function of a module
	Kind WaitKind
}

// WaitKind classifies waits for an Observer.
type WaitKind uint8

// ForOther is waiting for files, programs and servers other than the platform.
const (
	ForOther WaitKind = iota
	ForPlatform
	ForTasks
	ForTime
)

// observe begins to track a task that runs a function.
func (t *Task) observe(fn *lua.LFunction) {
	if o := t.in.opt.Observer; o != nil {
		f := functionFrame(fn, "", 0)
		f.Line = f.Begins
		t.track = o.Track(f)
		t.ctx = t.track.In(t.ctx)
	}
}

// begins starts the first turn of the task, and returns what ends its track.
func (t *Task) begins() (ends func()) {
	if t.track == nil {
		return func() {}
	}
	t.track.Run()
	return t.track.Finish
}

// leaves ends the turn of the task, which runs L, and returns what ends its wait.
func (t *Task) leaves(L *lua.LState, in *Scope, on Waiting) (end func()) {
	if t == nil {
		return func() {}
	}
	if t.thread, t.scope, t.waits = L, in, on.Name; t.track == nil {
		return func() {}
	}
	return t.track.Wait(t.in.callStack(L, 0), on)
}

// returns begins a turn of the task.
func (t *Task) returns() {
	if t == nil {
		return
	}
	if t.waits = ""; t.track != nil {
		t.track.Run()
	}
}

// hold makes each instruction tick while the run is observed.
func (c *clock) hold() {
	if c.in.opt.Observer != nil && c.task != nil && c.left > 1 {
		c.held, c.left = c.left-1, 1
	}
}

// looked reports whether the observer alone wanted this tick. It is called before an
// instruction.
func (c *clock) looked() bool {
	c.left, c.held = c.left+c.held, 0
	if c.left <= 0 {
		return false
	}
	c.hold()
	if late, due := c.in.opt.Observer.Due(); due {
		c.task.track.Sample(c.in.callStack(c.in.main.G.CurrentThread, late))
	}
	return true
}

// longInstruction is how long a Go function must take to be worth naming.
const longInstruction = 5 * time.Microsecond

const maxCallFrames = 100

// callStack returns where L is, outermost first. When the sample is late, the instruction
// before the next one took long: a call of a Go function.
func (in *Interp) callStack(L *lua.LState, late time.Duration) (frames []CallFrame) {
	for th := L; th != nil && len(frames) < maxCallFrames; th = outside(th) {
		stack(th, 0, func(p place) bool {
			if p.line > 0 {
				line := p.line
				if len(frames) == 0 && late > longInstruction && p.pc > 0 && compile.IsCall(p.fn.Proto, p.pc-1) {
					line = compile.Line(p.fn.Proto.DbgSourcePositions[p.pc-1])
				}
				frames = append(frames, frameOf(th, p, line))
			}
			return len(frames) < maxCallFrames
		})
	}
	slices.Reverse(frames)
	return frames
}

func frameOf(L *lua.LState, p place, line int) CallFrame {
	_, _ = L.GetInfo("n", p.dbg, lua.LNil) // without a name it is called by its line
	return functionFrame(p.fn, p.dbg.Name, line)
}

func functionFrame(fn *lua.LFunction, name string, line int) CallFrame {
	if fn.IsG {
		return CallFrame{Function: "task"}
	}
	f := CallFrame{Function: name, File: fn.Proto.SourceName, Line: line, Begins: fn.Proto.LineDefined}
	switch {
	case f.Begins == 0:
		f.Function = "main chunk"
	case name == "" || name == "?" || name == "main chunk" || name == "corountine" || strings.HasPrefix(name, "<"):
		f.Function = "function:" + strconv.Itoa(f.Begins)
	}
	return f
}
