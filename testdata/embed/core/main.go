// Command core runs a script with the core alone: Lua's library, the client and its managers.
package main

import (
	"context"
	"os"

	"transect/runtime"
)

func main() {
	p := runtime.NewProcess()
	err := runtime.Run(context.Background(), p, runtime.Job{Script: os.Args[1], Args: os.Args[2:]})
	runtime.Report(p, runtime.Output{}, err)
	os.Exit(runtime.ExitCode(err))
}
