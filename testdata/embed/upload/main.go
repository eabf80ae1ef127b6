// Command upload runs scripts that upload files, with Transect's modules and a ledger. It has no jobs, page or local
// platform.
package main

import (
	"context"
	"os"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/runtime"
	"transect/runtime/runledger"
	"transect/stdlib"
)

func main() {
	p := runtime.NewProcess()
	p.Library, p.Extensions = stdlib.Modules, []bindings.Extension{ingest.Module, lookup.Module}
	p.Parts = []runtime.NewPart{runledger.New}
	err := runtime.Run(context.Background(), p,
		runtime.Job{Script: os.Args[1], Args: os.Args[2:], Run: runtime.RunID{ID: "upload"}})
	runtime.Report(p, runtime.Output{}, err)
	os.Exit(runtime.ExitCode(err))
}
