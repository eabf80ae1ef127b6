package main

import (
	"runtime/debug"

	"transect/runtime"
)

// app is one execution of the command line.
type app struct {
	world  *runtime.World
	output runtime.Output
	out    *printed
}

// execute carries out the command line and returns the exit code.
func execute(w *runtime.World) int {
	a := &app{world: w}
	err := a.command()
	runtime.Report(w, a.output, err)
	return runtime.ExitCode(err)
}

// command carries out the command line. A panic becomes an error that asks to
// be reported: nobody outside this project can do anything with its stack.
func (a *app) command() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = runtime.Internal(p, debug.Stack())
		}
	}()
	root := a.root()
	root.SetArgs(a.world.Args)
	root.SetIn(a.world.Stdin)
	root.SetOut(a.stdout())
	root.SetErr(a.world.Stderr)
	ran, err := root.ExecuteC()
	if err == nil {
		err = a.unprinted()
	}
	return usage(ran, err)
}
