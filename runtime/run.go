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

	"transect/bindings"
	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/recovery"
	"transect/client/suggest"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/scripts"
	"transect/stdlib"
)

// Run runs a job to its end. It returns nil, a *vm.Exit with the code the
// script asked for, an *Interrupted, or an error that Report can print.
func Run(ctx context.Context, p *Process, job Job) error {
	return Perform(ctx, p, &job, (*Execution).script)
}

// Perform does the work of a job, within its timeout and until a signal.
func Perform(ctx context.Context, p *Process, job *Job, work func(*Execution, context.Context) error) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	job.Limits.Exceeded = stop
	draining := make(chan error, 1)
	ctx, release := p.cancelOnSignal(ctx, job.Timeout, job.Grace, func(reason error) { draining <- reason })
	defer release()
	if job.Link != nil {
		defer whenStopped(job.Link, stop)()
	}
	if err := vm.CheckStateDir(p.Env); err != nil {
		return err
	}
	named, err := resolveConnection(p, job.Connection)
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
	defer func() {
		if failed := x.endProfile(); err == nil {
			err = failed
		}
	}()
	defer x.clearStatus()
	if job.Hooks.After != nil {
		defer job.Hooks.After(x)
	}
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
	connector *connector
	jobs      *scriptJobs
}

func newExecution(ctx context.Context, p *Process, job *Job, named Connection) *Execution {
	opt := vm.Options{
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Env: p.Env, Now: p.Now, Dir: p.Dir,
		Script: job.Script, Run: job.Run.ID, Args: job.Args, DryRun: job.DryRun, Path: job.Path, Command: CommandLine(p, job),
		Log:      vm.Log{JSON: job.Output.JSON, Level: job.Output.Level()},
		Progress: job.Output.progress(), Line: job.OnLine,
		Module: scripts.Module, Visible: scripts.IsRef(job.Script),
		Limits:  job.Limits,
		Strict:  job.Strict,
		Profile: job.Profile.begin(),
		OutCopy: job.Hooks.Stdout, ErrCopy: job.Hooks.Stderr,
	}
	for part := range partsOf[Preparer](job) {
		part.Prepare(&opt)
	}
	if job.Stdin != nil {
		opt.Stdin = job.Stdin
	}
	if job.policy != nil {
		opt.Permit, opt.Sending = job.policy.Permit, job.policy.Sending
	}
	var leased func() error
	if job.Link != nil {
		leased = func() error { return job.Link.Gate(ctx) }
		opt.Leased = leased
	}
	x := &Execution{process: p, job: job}
	x.jobs = &scriptJobs{process: p, job: job, packed: map[string]*packed{}, numbers: map[[32]byte]int{}}
	opt.Jobs = x.jobs.forScripts()
	var notes *runLedger
	if job.Run.ID != "" && (!job.DryRun || job.Run.Known && p.hasLedger(job.Run.ID)) {
		notes = newRunLedger(p, job, opt.Agreed)
		opt.InRun = notes.forScripts(p, job.Run.ID, job.Run.Known)
	}
	in := luastd.New(ctx, opt)
	x.Interp, x.jobs.in, x.jobs.notes = in, in, notes
	x.connector = newConnector(p, job, named, in)
	x.connector.leased = leased
	if notes != nil {
		notes.log = in.Options().Logger
		x.connector.ledger = notes
	}
	for part := range partsOf[Maker](job) {
		part.Made(x)
	}
	return x
}

// Ledger opens the ledger of the run.
func (x *Execution) Ledger() (*ledger.Ledger, error) { return x.connector.ledger.open() }

// Backend returns what answers the local connections of the run.
func (x *Execution) Backend() Backend { return x.connector.backend }

// Transferred is the number of bytes of files sent and received so far.
func (x *Execution) Transferred() (sent, received int64) {
	return x.connector.stats.Sent(), x.connector.stats.Received()
}

// OpenTransfers are the files that are uploaded or downloaded at the moment.
func (x *Execution) OpenTransfers() []string { return x.connector.stats.Files() }

// Writes counts the writes of the start; nil when the run has noted none.
func (x *Execution) Writes() *recovery.Counts {
	l := x.connector.ledger
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.noted {
		return nil
	}
	counts := l.counts
	return &counts
}

// run does the work and releases what it used.
func (x *Execution) run(ctx context.Context, work func(*Execution, context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = vm.Internal(p)
		}
	}()
	defer func() {
		for part := range partsOf[Ender](x.job) {
			part.End(err)
		}
	}()
	defer func() {
		if failed := x.writeManifest(); err == nil {
			err = failed
		}
		x.Interp.Close()
		x.jobs.close()
		if failed := x.connector.close(); err == nil {
			err = failed
		}
		if x.connector.ledger != nil {
			if failed := x.connector.ledger.end(err == nil); err == nil {
				err = failed
			}
		}
	}()
	if x.job.Run.Known && x.connector.ledger != nil {
		if _, err := x.connector.ledger.open(); err != nil { // another process may work on it
			return err
		}
	}
	for part := range partsOf[Beginner](x.job) {
		if done, err := part.Begin(ctx); done || err != nil {
			return err
		}
	}
	if before := x.job.Hooks.Before; before != nil {
		if err := before(ctx, x); err != nil {
			return err
		}
	}
	err = work(x, ctx)
	for part := range partsOf[Finisher](x.job) {
		if err == nil {
			err = part.Finish()
		}
	}
	if x.connector.ledger != nil && ctx.Err() == nil && !fault.Transient(err) {
		x.connector.ledger.lookAgain(ctx)
	}
	return err
}

// Process returns what the run may use of the operating system.
func (x *Execution) Process() *Process { return x.process }

// Job returns the settings of the run.
func (x *Execution) Job() *Job { return x.job }

// Open makes the toolbox and the client available to scripts.
func (x *Execution) Open() *bindings.Binding {
	module.Preload(x.Interp, stdlib.Modules()...)
	return bindings.Open(x.Interp, x.connector.connect, x.process.Extensions...)
}

func (x *Execution) script(ctx context.Context) error {
	x.Open()
	switch name := x.job.Script; {
	case name == "":
		return x.eval()
	case scripts.IsRef(name):
		code, err := x.process.ScriptCode(name)
		if err != nil {
			return err
		}
		values, err := x.Interp.RunString(name, string(code))
		return x.complete(x.keepResult(ctx, values, err))
	case name == "-":
		code, err := io.ReadAll(x.process.Stdin)
		if err != nil {
			return fault.Of(&fault.UsageError{}, "cannot read the script from standard input: %w", err)
		}
		values, err := x.Interp.RunString(StdinName, string(code))
		return WithSource(StdinName, string(code), x.complete(x.keepResult(ctx, values, err)))
	}
	if _, err := os.Stat(x.process.Path(x.job.Script)); errors.Is(err, os.ErrNotExist) {
		_, err := x.process.ScriptCode(x.job.Script)
		return err
	}
	values, err := x.Interp.RunFile(x.job.Script)
	return x.complete(x.keepResult(ctx, values, err))
}

// complete is the error of a script that has ended: a partial failure when items
// failed that the script has said nothing of, none after os.exit(0).
func (x *Execution) complete(err error) error {
	if failed := x.Interp.Unaccounted(); err == nil && failed > 0 {
		items := x.Interp.Items()
		x.Interp.Options().Logger.Warn(fmt.Sprintf("finished, but %d of %d items failed", failed, items.Done+items.Failed))
		return x.Interp.FailedItems(failed)
	}
	return WithoutSuccess(err)
}

// ScriptCode reads a script: a file, or @NAME of the binary.
func (p *Process) ScriptCode(name string) ([]byte, error) {
	if !scripts.IsRef(name) {
		code, err := os.ReadFile(p.Path(name))
		if err != nil {
			hint := "check the path of the script"
			if s, ok := scripts.Find("@" + strings.TrimSuffix(filepath.Base(name), ".lua")); ok {
				hint += "; the binary has a script of this name: " + s.Program()
			}
			return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "cannot read the script %s: %w", name, fault.Reason(err)),
				"%s", hint)
		}
		return code, nil
	}
	if s, ok := scripts.Find(name); ok {
		return s.Code, nil
	}
	var known []string
	for _, s := range scripts.List() {
		known = append(known, s.Ref())
	}
	return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "there is no script %s in transect%s", name,
		suggest.Suffix(name, known)), "transect scripts lists them")
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
