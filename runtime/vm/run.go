package vm

import (
	"context"
	"os"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// RunFile runs the script at path as the main task, waits for every task it
// spawned, and returns the script's values. Its error is nil, an *Exit, a
// *ScriptError (see Failure), or the fault the run was stopped with.
func (in *Interp) RunFile(path string) ([]lua.LValue, error) {
	code, err := os.ReadFile(in.Path(path))
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "cannot read the script %s: %w", path, fault.Reason(err)),
			"check the path of the script")
	}
	return in.execute(path, code)
}

// RunString runs code under the given name and returns its values.
func (in *Interp) RunString(name, code string) ([]lua.LValue, error) {
	return in.execute(name, []byte(code))
}

func (in *Interp) execute(name string, code []byte) ([]lua.LValue, error) {
	return in.perform(func() (*lua.LFunction, error) { return in.Compile(in.main, name, code) }, nil)
}

// perform makes a function, calls it as the main task, and waits for the tasks
// it spawned; waits, if not nil, is called with the number of tasks left when its code is over.
func (in *Interp) perform(load func() (*lua.LFunction, error), waits func(tasks int)) ([]lua.LValue, error) {
	in.runs.Lock()
	defer in.runs.Unlock()
	ctx, cancel := context.WithCancelCause(in.ctx)
	defer cancel(nil)
	in.acquire()
	defer in.release()
	in.run.Store(&cancel)
	defer in.run.Store(nil)

	fn, err := load()
	if ctx.Err() != nil {
		return nil, outcome(ctx)
	}
	if err != nil {
		return nil, err
	}
	t := &Task{in: in, ctx: ctx, cancel: cancel, base: in.main}
	t.observe(fn)
	in.root = t
	defer func() { in.root = nil }()
	defer t.begins()()
	outer, c := in.main.Context(), &clock{Context: t.ctx, in: in, task: t}
	in.main.SetContext(c)
	defer in.main.SetContext(outer)
	in.stoppedAt = nil
	if in.opt.Size != nil {
		in.spent = 0
	}
	g := &guard{Context: t.ctx, in: in, th: in.main, clock: c, traced: true}
	g.raised = g.raise
	defer t.calls.free(in)
	values, failure := g.values(fn, in.arguments())
	if waits != nil && failure == nil && t.own != nil && len(t.own.live) > 0 {
		waits(len(t.own.live))
	}
	failure = t.own.join(failure)
	if ctx.Err() != nil {
		return nil, in.withFrames(outcome(ctx), failure)
	}
	if failure != nil {
		return nil, in.scriptError(failure)
	}
	return values, nil
}

// withFrames adds where the run was stopped.
func (in *Interp) withFrames(err error, failure *Caught) error {
	frames := in.stoppedAt
	if _, isExit := err.(*Exit); isExit {
		return err
	}
	if frames == nil && failure != nil {
		frames = failure.frames()
	}
	return &ScriptError{Err: err, Frames: frames}
}

func (in *Interp) arguments() []lua.LValue {
	args := make([]lua.LValue, len(in.opt.Args))
	for i, a := range in.opt.Args {
		args[i] = lua.LString(a)
	}
	return args
}

// openArgs sets the global arg as the lua command does.
func (in *Interp) openArgs() {
	arg := in.main.NewTable()
	arg.RawSetInt(-1, lua.LString("transect"))
	arg.RawSetInt(0, lua.LString(in.opt.Script))
	for i, a := range in.opt.Args {
		arg.RawSetInt(i+1, lua.LString(a))
	}
	in.main.SetGlobal("arg", arg)
}
