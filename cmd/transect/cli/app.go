// Package cli is the command line of transect. A file holds one subcommand, or a few related ones: flags in, a call
// of package runtime (or plan, lint, reference), an exit code out. root.go lists them, part.go has what parts add.
// flags.go declares flags together with their environment variables, flags_run.go those of commands that run scripts.
// Begin reading with run.go.
package cli

import (
	"io"
	"strings"

	"transect/runtime"
	"transect/runtime/debug"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// App is one execution of the command line.
type App struct {
	Process *runtime.Process
	Output  runtime.Output
	Stdout  *checkedWriter
	parts   []Part
	job     *runtime.Job // of the command run, filled by its flags

	debugger *debug.Debugger // of an editor or a terminal, for the command run
}

// library returns the modules of the program.
func (a *App) library() []*module.Module {
	if a.Process.Library == nil {
		return nil
	}
	return a.Process.Library()
}

// NewApp returns an execution of the command line of a process, with the commands of its parts.
func NewApp(p *runtime.Process, parts ...Part) *App {
	return &App{Process: p, Stdout: &checkedWriter{to: p.Stdout}, parts: parts}
}

// On returns an execution on another process, with the same parts.
func (a *App) On(p *runtime.Process) *App { return NewApp(p, a.parts...) }

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

// Execute runs the command line and returns the exit code.
func (a *App) Execute() int {
	err := a.command()
	runtime.Report(a.Process, a.Output, err)
	return runtime.ExitCode(err)
}

// command runs the command line. It turns a panic into an error that asks for a report, without the stack.
func (a *App) command() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = vm.Internal(p)
		}
	}()
	root := a.Root(a.Process.Args)
	root.SetArgs(a.Process.Args)
	root.SetIn(a.Process.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Process.Stderr)
	found, rest, _ := root.Find(a.Process.Args)
	if found == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !strings.HasPrefix(rest[0], "__complete") {
		return a.unknownCommand(root, rest) // whatever its flags are
	}
	cmd, err := root.ExecuteC()
	if err == nil {
		err = a.Stdout.err
	}
	return usage(cmd, err)
}
