package vm

import (
	"slices"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm/compile"
	"transect/runtime/vm/profile"
)

// Waiting says what a task waits for in BlockingFor.
type Waiting struct {
	Name string // an operation, a function of a module
	Kind profile.Kind
}

// leaves ends the turn of the task, which runs L, also in the profile, if there is one.
func (t *Task) leaves(L *lua.LState, in *Scope, on Waiting) *profile.Wait {
	if t == nil {
		return nil
	}
	if t.thread, t.scope, t.waits = L, in, on.Name; t.track == nil {
		return nil
	}
	return t.track.Wait(t.in.profileStack(L, 0), on.Name, on.Kind)
}

// returns begins a turn of the task.
func (t *Task) returns() {
	if t != nil {
		t.waits = ""
		t.track.Run()
	}
}

// hold makes each instruction tick while the run is profiled.
func (c *clock) hold() {
	if c.in.opt.Profile != nil && c.task != nil && c.left > 1 {
		c.held, c.left = c.left-1, 1
	}
}

// looked reports whether there is nothing to do but to look for the profile. It is
// called before an instruction.
func (c *clock) looked() bool {
	c.left, c.held = c.left+c.held, 0
	if c.left <= 0 {
		return false
	}
	c.hold()
	if late, due := c.in.opt.Profile.Due(); due {
		c.task.track.Sample(c.in.profileStack(c.in.main.G.CurrentThread, late))
	}
	return true
}

// longInstruction is what calls of Go functions take that are worth naming.
const longInstruction = 5 * time.Microsecond

const maxProfileFrames = 100

// profileStack is where L is, outermost first. When the sample is late, the instruction
// before the next one took long: a call of a Go function.
func (in *Interp) profileStack(L *lua.LState, late time.Duration) (frames []profile.Frame) {
	for th := L; th != nil && len(frames) < maxProfileFrames; th = callerOf(th) {
		stack(th, 0, func(p place) bool {
			if p.line > 0 {
				line := p.line
				if len(frames) == 0 && late > longInstruction && p.pc > 0 && compile.IsCall(p.fn.Proto, p.pc-1) {
					line = compile.Line(p.fn.Proto.DbgSourcePositions[p.pc-1])
				}
				frames = append(frames, frameOf(th, p, line))
			}
			return len(frames) < maxProfileFrames
		})
	}
	slices.Reverse(frames)
	return frames
}

// callerOf is the thread that a protected call or a coroutine was called from.
func callerOf(L *lua.LState) *lua.LState {
	if owner := ownerOf(L); owner != nil {
		return owner
	}
	return L.Parent
}

func frameOf(L *lua.LState, p place, line int) profile.Frame {
	_, _ = L.GetInfo("n", p.dbg, lua.LNil) // without a name it is called by its line
	return functionFrame(p.fn, p.dbg.Name, line)
}

func functionFrame(fn *lua.LFunction, name string, line int) profile.Frame {
	if fn.IsG {
		return profile.Frame{Function: "task"}
	}
	f := profile.Frame{Function: name, File: fn.Proto.SourceName, Line: line, Begins: fn.Proto.LineDefined}
	switch {
	case f.Begins == 0:
		f.Function = "main chunk"
	case name == "" || name == "?" || name == "main chunk" || name == "corountine" || strings.HasPrefix(name, "<"):
		f.Function = "function:" + strconv.Itoa(f.Begins)
	}
	return f
}

// track begins the track of a task in the profile, if there is one.
func (in *Interp) track(fn *lua.LFunction) *profile.Track {
	if in.opt.Profile == nil {
		return nil
	}
	f := functionFrame(fn, "", 0)
	f.Line = f.Begins
	return in.opt.Profile.Track(f)
}
