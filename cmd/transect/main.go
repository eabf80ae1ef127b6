// Command transect runs Lua workflows against a geospatial platform.
//
// It lists the parts of the program: those of a run in equip, those of the command line in newCommandLine. The
// commands are in cli and in the packages beside it. Begin reading with cli/run.go.
package main

import (
	"os"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/bindings/progress"
	"transect/cmd/transect/cli"
	"transect/cmd/transect/jobcmd"
	"transect/cmd/transect/pagecmd"
	"transect/cmd/transect/platformcmd"
	"transect/runtime"
	"transect/runtime/jobrun"
	"transect/runtime/local"
	"transect/runtime/runledger"
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

// execute runs the command line of a process and returns its exit code.
func execute(p *runtime.Process) int { return newCommandLine(p).Execute() }

// newCommandLine lists the parts of the command line. The page shows jobs; a served platform has a page.
func newCommandLine(p *runtime.Process) *cli.App {
	return cli.NewApp(p, jobcmd.Part{}, pagecmd.Part{}, platformcmd.Part{})
}
