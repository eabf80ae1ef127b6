package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/client"
	"transect/client/fault"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// Run runs a job to its end. It returns nil, a *vm.Exit with the code the
// script requested, an *Interrupted, or an error that Report can print.
func Run(ctx context.Context, p *Process, job Job) error {
	return Perform(ctx, p, &job, (*Execution).script)
}

// Perform runs the work of a job, within its timeout and until a signal.
func Perform(ctx context.Context, p *Process, job *Job, work func(*Execution, context.Context) error) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	job.Limits.Exceeded = stop
	draining := make(chan error, 1)
	ctx, release := p.cancelOnSignal(ctx, job.Timeout, job.Grace, func(reason error) { draining <- reason })
	defer release()
	if err := vm.CheckStateDir(p.Env); err != nil {
		return err
	}
	named, err := ResolveConnection(p, job.Connection)
	if err != nil {
		return err
	}
	if err := job.Transfers.complete(p); err != nil {
		return err
	}
	if job.policy, err = job.Sandbox.policy(p, job.Script); err != nil {
		return err
	}
	x := newExecution(ctx, p, job, named)
	defer x.clearStatus()
	done := make(chan error, 1)
	go func() { done <- x.run(ctx, work) }()
	for {
		select {
		case reason := <-draining:
			x.Interp.StopGracefully(reason)
			x.Interp.Options().Logger.Info("terminating: finishing the items in hand; another signal stops at once", "grace",
				job.Grace)
		case err := <-done:
			return stopReason(err)
		case <-ctx.Done():
			select {
			case err := <-done:
				return stopReason(err)
			case <-time.After(abandonAfter):
				return stopReason(context.Cause(ctx))
			}
		}
	}
}

// RunInside runs the script of another job within a run, on the same platform and under the same rules, with
// streams of its own.
func (x *Execution) RunInside(ctx context.Context, p *Process, job Job) error {
	job.Backend, job.policy = x.connector.backend, x.job.policy
	other := newExecution(ctx, p, &job, x.connector.named)
	return stopReason(other.run(ctx, (*Execution).script))
}

// Execution is a job in progress.
type Execution struct {
	Interp    *vm.Interp
	process   *Process
	job       *Job
	parts     []Part
	connector *connector
	returned  []lua.LValue
}

func newExecution(ctx context.Context, p *Process, job *Job, named Connection) *Execution {
	opt := vm.Options{
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Env: p.Env, Now: p.Now, Dir: p.Dir,
		Script: job.Script, Run: job.Run.ID, Args: job.Args, DryRun: job.DryRun, Path: job.Path, Command: CommandLine(p, job),
		Log:      vm.Log{JSON: job.Output.JSON, Level: job.Output.Level()},
		Progress: job.Output.progress(), Line: job.OnLine,
		Module: p.Ready.Module, Visible: isReady(job.Script),
		Limits: job.Limits,
		Strict: job.Strict,
	}
	x := &Execution{process: p, job: job}
	for _, newPart := range p.Parts {
		if part := newPart(p, job); part != nil {
			x.parts = append(x.parts, part)
		}
	}
	x.parts = append(x.parts, job.Parts...)
	for part := range PartsOf[Preparer](x.parts) {
		part.Prepare(&opt)
	}
	if job.Stdin != nil {
		opt.Stdin = job.Stdin
	}
	if job.policy != nil {
		opt.Permit, opt.Sending = job.policy.Permit, job.policy.Sending
	}
	x.Interp = luastd.New(ctx, opt)
	x.connector = newConnector(p, job, x.parts, named, x.Interp)
	for part := range PartsOf[Maker](x.parts) {
		part.Made(x)
	}
	return x
}

// Parts lists the parts of the run.
func (x *Execution) Parts() []Part { return x.parts }

// Policy returns what the script may access, nil without a sandbox.
func (x *Execution) Policy() *sandbox.Policy { return x.job.policy }

// Returned lists the values that the script returned; none when it failed.
func (x *Execution) Returned() []lua.LValue { return x.returned }

// Named returns the connection that command line and environment name.
func (x *Execution) Named() Connection { return x.connector.named }

// Settings returns the settings of a connection, with the secrets of its files.
func (x *Execution) Settings(named Connection) (s client.Settings, err error) {
	err = x.connector.fill(&s, named)
	return s, err
}

// Connect connects with settings, outside of the parts of the run.
func (x *Execution) Connect(ctx context.Context, s client.Settings) (*client.Client, error) {
	options := x.connector.options()
	options.Links = nil
	return client.New(ctx, s, options)
}

// Stop ends the run with an error.
func (x *Execution) Stop(cause error) { x.job.Limits.Exceeded(cause) }

// Backend returns what answers the local connections of the run.
func (x *Execution) Backend() Backend { return x.connector.backend }

// Transferred returns the bytes of files sent and received so far.
func (x *Execution) Transferred() (sent, received int64) {
	return x.connector.stats.Sent(), x.connector.stats.Received()
}

// OpenTransfers returns the files being uploaded or downloaded.
func (x *Execution) OpenTransfers() []string { return x.connector.stats.Files() }

// run calls work and releases what it used.
func (x *Execution) run(ctx context.Context, work func(*Execution, context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = vm.Internal(p)
		}
	}()
	defer func() {
		for part := range PartsOf[Ender](x.parts) {
			err = part.End(err)
		}
	}()
	defer func() {
		if failed := x.writeManifest(); err == nil {
			err = failed
		}
		x.Interp.Close()
		if failed := x.connector.close(); err == nil {
			err = failed
		}
	}()
	for part := range PartsOf[Beginner](x.parts) {
		if done, err := part.Begin(ctx); done || err != nil {
			return err
		}
	}
	err = work(x, ctx)
	for part := range PartsOf[Finisher](x.parts) {
		err = part.Finish(ctx, err)
	}
	return err
}

// Process returns what the run may use of the operating system.
func (x *Execution) Process() *Process { return x.process }

// Job returns the settings of the run.
func (x *Execution) Job() *Job { return x.job }

// Open makes the toolbox and the client available to scripts.
func (x *Execution) Open() *bindings.Binding {
	if x.process.Library != nil {
		module.Preload(x.Interp, x.process.Library()...)
	}
	return bindings.Open(x.Interp, x.connector.connect, x.process.Extensions...)
}

func (x *Execution) script(context.Context) error {
	x.Open()
	switch name := x.job.Script; {
	case name == "":
		return x.eval()
	case isReady(name):
		code, err := x.process.ScriptCode(name)
		if err != nil {
			return err
		}
		values, err := x.Interp.RunString(name, string(code))
		return x.complete(values, err)
	case name == "-":
		code, err := io.ReadAll(x.process.Stdin)
		if err != nil {
			return fault.Of(&fault.UsageError{}, "cannot read the script from standard input: %w", err)
		}
		values, err := x.Interp.RunString(StdinName, string(code))
		return WithSource(StdinName, string(code), x.complete(values, err))
	}
	if _, err := os.Stat(x.process.Path(x.job.Script)); errors.Is(err, os.ErrNotExist) {
		_, err := x.process.ScriptCode(x.job.Script)
		return err
	}
	values, err := x.Interp.RunFile(x.job.Script)
	return x.complete(values, err)
}

// complete returns the error of a script that has ended: a partial failure when items failed that the script
// did not report, none after os.exit(0).
func (x *Execution) complete(values []lua.LValue, err error) error {
	if err == nil {
		x.returned = values
	}
	if failed := x.Interp.Unaccounted(); err == nil && failed > 0 {
		items := x.Interp.Items()
		x.Interp.Options().Logger.Warn(fmt.Sprintf("finished, but %d of %d items failed", failed, items.Done+items.Failed))
		return x.Interp.FailedItems(failed)
	}
	return WithoutSuccess(err)
}

// ScriptCode reads a script: a file, or @NAME of the program.
func (p *Process) ScriptCode(name string) ([]byte, error) {
	if isReady(name) && p.Ready.Code != nil {
		return p.Ready.Code(name)
	}
	code, err := os.ReadFile(p.Path(name))
	if err == nil {
		return code, nil
	}
	hint := "check the path of the script"
	if p.Ready.Program != nil {
		if ready := p.Ready.Program(strings.TrimSuffix(filepath.Base(name), ".lua")); ready != "" {
			hint += "; the binary has a script of this name: " + ready
		}
	}
	return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "cannot read the script %s: %w", name, fault.Reason(err)),
		"%s", hint)
}

// WithoutSuccess drops the "error" of a script that called os.exit(0).
func WithoutSuccess(err error) error {
	if exit, ok := errors.AsType[*vm.Exit](err); ok && exit.Code == ExitOK {
		return nil
	}
	return err
}

// clearStatus removes a progress line that is still on the terminal.
func (x *Execution) clearStatus() {
	if screen, ok := x.Interp.Options().Stderr.(*vm.Console); ok {
		screen.SetStatus("")
	}
}
