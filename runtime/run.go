package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"transect/bindings"
	"transect/client/fault"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib"
)

// Job is one script to run, and how.
type Job struct {
	Script string   // path of the script; "-" is standard input
	Code   string   // Lua to run in place of a script, when Script is empty
	Args   []string // the script's own
	Path   []string // further folders for require

	Connection Connection    // from the command line
	Transfers  Transfers     // from the command line
	Timeout    time.Duration // limit of the whole run; 0 is none
	Limits     vm.Limits     // of what the script uses
	Walls      Walls         // what the script may reach
	DryRun     bool          // print writes instead of sending them
	Trace      bool          // print each request and answer
	Output     Output
	Version    string // of the program, for the User-Agent
	Attend     Attendance
	Grace      time.Duration // how long a run that was told to end may take to finish the items in hand

	gate *sandbox.Policy // nil where everything may be reached

	line  func(file string, line int) // told the lines that run
	stdin io.Reader                   // what the script reads, when not the World's

	outCopy, errCopy io.Writer                         // get what the run prints
	before           func(context.Context, *run) error // called before the work
	after            func(*run)                        // called after it, also when it hangs
}

// Output says how much is told on the error stream, and in what form.
type Output struct {
	Quiet   bool // only errors
	Verbose bool // what is good for finding faults
	JSON    bool // one JSON object a line
}

// Level is the least level of messages that are told.
func (o Output) Level() slog.Level {
	switch {
	case o.Quiet:
		return slog.LevelError
	case o.Verbose:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

func (o Output) progress() vm.ProgressMode {
	switch {
	case o.Quiet:
		return vm.ProgressQuiet
	case o.JSON:
		return vm.ProgressJSON
	}
	return vm.ProgressAuto
}

// Run runs a job to its end. It returns nil, a *vm.Exit with the code the
// script asked for, an *Interrupted, or an error that Report can tell about.
func Run(ctx context.Context, w *World, job Job) error {
	return perform(ctx, w, &job, func(r *run, _ context.Context) error {
		module.Preload(r.in, stdlib.Modules()...)
		bindings.Open(r.in, r.connector.connect)
		return r.script()
	})
}

// perform does the work of a job, within its time limit and until a signal.
func perform(ctx context.Context, w *World, job *Job, work func(*run, context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	job.Limits.Exceeded = stop
	draining := make(chan error, 1)
	ctx, release := w.stoppable(ctx, job.Timeout, job.Grace, func(why error) { draining <- why })
	defer release()
	if err := vm.CheckStateDir(w.Env); err != nil {
		return err
	}
	named, err := given(w, job.Connection)
	if err != nil {
		return err
	}
	how, err := tuned(w, job.Transfers)
	if err != nil {
		return err
	}
	if job.gate, err = job.Walls.gate(w, job.Script); err != nil {
		return err
	}
	r := newRun(ctx, w, job, named, how)
	defer r.clearStatus()
	if job.after != nil {
		defer job.after(r)
	}
	done := make(chan error, 1)
	go func() { done <- r.whole(ctx, work) }()
	for going := true; going; {
		select {
		case why := <-draining:
			r.in.Drain(why)
			r.in.Options().Logger.Info("told to end: finishing what is in hand; another signal stops it now", "grace", job.Grace)
		case err := <-done:
			return ending(err)
		case <-ctx.Done():
			going = false
		}
	}
	select {
	case err := <-done:
		return ending(err)
	case <-time.After(grace):
		return ending(context.Cause(ctx))
	}
}

// run is a job under way.
type run struct {
	world     *World
	job       *Job
	in        *vm.Interp
	connector *connector
}

func newRun(ctx context.Context, w *World, job *Job, named Connection, how tuning) *run {
	stdin := w.Stdin
	if job.stdin != nil {
		stdin = job.stdin
	}
	opt := vm.Options{
		Stdin: stdin, Stdout: w.Stdout, Stderr: w.Stderr, Env: w.Env, Now: w.Now, Dir: w.Dir,
		Script: job.Script, Args: job.Args, Path: job.Path,
		Log:      vm.Log{JSON: job.Output.JSON, Level: job.Output.Level()},
		Progress: job.Output.progress(), Line: job.line,
		Limits:  job.Limits,
		OutCopy: job.outCopy, ErrCopy: job.errCopy,
	}
	if gate := job.gate; gate != nil {
		opt.Permit, opt.Sending = gate.Permit, gate.Sending
	}
	in := luastd.New(ctx, opt)
	return &run{world: w, job: job, in: in, connector: newConnector(w, job, named, how, in)}
}

// whole does the work and closes everything behind it.
func (r *run) whole(ctx context.Context, work func(*run, context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Internal(p, debug.Stack())
		}
	}()
	defer func() {
		if failed := r.learned(); err == nil {
			err = failed
		}
		r.in.Close()
		if failed := r.connector.close(); err == nil {
			err = failed
		}
	}()
	if r.job.before != nil {
		if err := r.job.before(ctx, r); err != nil {
			return err
		}
	}
	return work(r, ctx)
}

func (r *run) script() error {
	switch r.job.Script {
	case "":
		return r.eval()
	case "-":
		code, err := io.ReadAll(r.world.Stdin)
		if err != nil {
			return fault.Of(&fault.UsageError{}, "cannot read the script from standard input: %w", err)
		}
		_, err = r.in.RunString(stdinName, string(code))
		return quoting(stdinName, string(code), succeeded(err))
	}
	return succeeded(r.in.RunFile(r.job.Script))
}

// succeeded leaves out the end a script asked for that is no failure.
func succeeded(err error) error {
	var asked *vm.Exit
	if errors.As(err, &asked) && asked.Code == ExitOK {
		return nil
	}
	return err
}

// clearStatus takes away a progress line that is still on the terminal.
func (r *run) clearStatus() {
	if screen, ok := r.in.Options().Stderr.(*vm.Screen); ok {
		screen.SetStatus("")
	}
}

// InternalError is a fault of the program itself.
type InternalError struct {
	*fault.RuntimeError
	Stack []byte // of the Go panic
}

// Unwrap leads to the fault, for errors.As.
func (e *InternalError) Unwrap() error { return e.RuntimeError }

// Internal makes an error of a recovered panic.
func Internal(panicked any, stack []byte) error {
	return &InternalError{
		RuntimeError: fault.Hinted(fault.Of(&fault.RuntimeError{}, "internal fault: %s", fmt.Sprint(panicked)),
			"this is a fault of Transect, please report it; TRANSECT_DEBUG=1 shows where it happened"),
		Stack: stack,
	}
}
