// Command lean is the command line without jobs, page and served platform. Plans are made over the local platform,
// which therefore is part of it.
package main

import (
	"os"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/cmd/transect/cli"
	"transect/runtime"
	"transect/runtime/runledger"
	"transect/scripts"
	"transect/stdlib"
)

func main() {
	p := runtime.NewProcess()
	p.Library, p.Extensions = stdlib.Modules, []bindings.Extension{ingest.Module, lookup.Module}
	p.Parts = []runtime.NewPart{runledger.New}
	p.Ready = runtime.ReadyScripts{Code: scripts.Code, Program: scripts.Program, Module: scripts.Module}
	os.Exit(cli.NewApp(p).Execute())
}
