package runtime_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/runtime"
	"transect/runtime/local"
)

// noEnvironment keeps the variables of the machine from the examples; a program has os.LookupEnv in its place.
func noEnvironment(string) (string, bool) { return "", false }

// A program embeds Transect with a Process, what a run may use of the operating system, and a Job. This one runs
// a script on a local platform in memory.
func ExampleRun() {
	p := &runtime.Process{
		Stdin: strings.NewReader(""), Stdout: os.Stdout, Stderr: os.Stderr, Env: noEnvironment, Now: time.Now,
		Exit: os.Exit, IsTerminal: func(any) bool { return false },
		Backend: local.InMemory, Extensions: []bindings.Extension{ingest.Module, lookup.Module},
	}
	err := runtime.Run(context.Background(), p, runtime.Job{
		Code:       `print(require("sdk").projects.find_or_create("North quarry").name)`,
		Connection: runtime.Connection{Local: true},
	})
	runtime.Report(p, runtime.Output{}, err)
	// Output: North quarry
}

// counting is a part of a run that looks at its end.
type counting struct{ ended int }

var _ runtime.Ender = (*counting)(nil)

func (c *counting) End(err error) error {
	c.ended++
	return err
}

// A feature takes part in a run by the interfaces that it implements.
func ExamplePart() {
	p := &runtime.Process{
		Stdin: strings.NewReader(""), Stdout: os.Stdout, Stderr: os.Stderr, Env: noEnvironment, Now: time.Now,
		Exit: os.Exit, IsTerminal: func(any) bool { return false },
	}
	part := &counting{}
	err := runtime.Run(context.Background(), p, runtime.Job{Code: `print("measured")`, Parts: []runtime.Part{part}})
	fmt.Println(part.ended, err, runtime.ExitCode(err))
	// Output:
	// measured
	// 1 <nil> 0
}
