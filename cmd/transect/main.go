// Command transect runs Lua workflows against a geospatial platform.
//
// A file holds one subcommand, or a few related ones: flags in, a call of package
// runtime (or platform, lint, reference), an exit code out. root.go lists them.
// flags.go declares flags together with their environment variables, flags_run.go
// those of commands that run scripts. Begin reading with run.go.
package main

import (
	"io"
	"os"
	"strings"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/bindings/progress"
	"transect/runtime"
	"transect/runtime/debug"
	"transect/runtime/jobrun"
	"transect/runtime/local"
	"transect/runtime/runledger"
	"transect/runtime/vm"
	"transect/scripts"
	"transect/stdlib"
)

func main() { os.Exit(execute(newProcess())) }

func newProcess() *runtime.Process {
	tuneGC()
	return equip(runtime.NewProcess())
}

// equip adds the parts of every run to a process. Commands add their own: a plan, a debugger, a profile, unattended
// runs. jobrun needs runledger; planrun needs both and the local platform.
func equip(p *runtime.Process) *runtime.Process {
	p.Library, p.Extensions = stdlib.Modules, []bindings.Extension{ingest.Module, lookup.Module, progress.Show}
	p.Backend, p.Parts = local.Backend, []runtime.NewPart{jobrun.New, runledger.New}
	p.Ready = runtime.ReadyScripts{Code: scripts.Code, Program: scripts.Program, Module: scripts.Module}
	return p
}

// app is one execution of the command line.
type app struct {
	process *runtime.Process
	output  runtime.Output
	stdout  *checkedWriter
	job     *runtime.Job // of the command run, filled by its flags

	debugger *debug.Debugger // of an editor or a terminal, for the command run
}

func newApp(p *runtime.Process) *app { return &app{process: p, stdout: &checkedWriter{to: p.Stdout}} }

// checkedWriter keeps the first error: what prints tables ignores errors.
type checkedWriter struct {
	to  io.Writer
	err error
}

func (w *checkedWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

func execute(p *runtime.Process) int { return newApp(p).execute() }

// execute runs the command line and returns the exit code.
func (a *app) execute() int {
	err := a.command()
	runtime.Report(a.process, a.output, err)
	return runtime.ExitCode(err)
}

// command runs the command line. It turns a panic into an error that asks for a report, without the stack.
func (a *app) command() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = vm.Internal(p)
		}
	}()
	root := a.root(a.process.Args)
	root.SetArgs(a.process.Args)
	root.SetIn(a.process.Stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.process.Stderr)
	found, rest, _ := root.Find(a.process.Args)
	if found == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !strings.HasPrefix(rest[0], "__complete") {
		return a.unknownCommand(root, rest) // whatever its flags are
	}
	cmd, err := root.ExecuteC()
	if err == nil {
		err = a.stdout.err
	}
	return usage(cmd, err)
}
