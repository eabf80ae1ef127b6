// Command counting is the command line with a part of its own, which counts calls of the platform: the flag
// --count-calls prints the counts at the end of a run, and the module calls returns them to scripts.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/client"
	"transect/client/declare"
	"transect/cmd/transect/cli"
	"transect/runtime"
	"transect/runtime/local"
	"transect/runtime/module"
	"transect/runtime/runledger"
	"transect/runtime/vm"
	"transect/scripts"
	"transect/stdlib"
)

func main() {
	p := runtime.NewProcess()
	p.Library = func() []*module.Module { return append(stdlib.Modules(), callsModule) }
	p.Extensions = []bindings.Extension{ingest.Module, lookup.Module}
	p.Backend, p.Parts = local.Backend, []runtime.NewPart{runledger.New, newCounter}
	p.Ready = runtime.ReadyScripts{Code: scripts.Code, Program: scripts.Program, Module: scripts.Module}
	os.Exit(cli.NewApp(p, counting{}).Execute())
}

// counting adds the flag to the command line.
type counting struct{}

// show says that a run prints its counts.
type show bool

func (counting) Options(job *runtime.Job) []cli.Option {
	return []cli.Option{{Name: "count-calls", Kind: "bool", Where: cli.OnLua | cli.OfJob,
		Doc: "print how often the script called each operation",
		Parse: func(string) error {
			*job = job.With(show(true))
			return nil
		}}}
}

// counter counts the calls of a run.
type counter struct {
	process *runtime.Process
	show    bool
	mu      sync.Mutex
	calls   map[string]int
}

var _ interface {
	runtime.Preparer
	runtime.Linker
	runtime.Ender
} = (*counter)(nil)

func newCounter(p *runtime.Process, job *runtime.Job) runtime.Part {
	return &counter{process: p, show: bool(runtime.PartOf[show](job.Parts)), calls: map[string]int{}}
}

type counterKey struct{}

// Prepare gives the module the counter.
func (c *counter) Prepare(o *vm.Options) { o.Set(counterKey{}, c) }

// Link counts each call, before anything may refuse or answer it.
func (c *counter) Link(_ string, o *client.Options) {
	o.Links = append(o.Links, client.At(client.PlaceObserve,
		func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
			c.mu.Lock()
			c.calls[call.Spec.FullName()]++
			c.mu.Unlock()
			return next(ctx, call)
		}))
}

// End prints the counts.
func (c *counter) End(err error) error {
	if c.show {
		for _, name := range slices.Sorted(maps.Keys(c.calls)) {
			fmt.Fprintf(c.process.Stderr, "%s: %d\n", name, c.calls[name])
		}
	}
	return err
}

var callsModule = &module.Module{Name: "calls", Doc: "How often the script called the platform.", Funcs: []module.Func{{
	Name: "count", Doc: "Returns how often an operation was called.", Returns: "a number",
	Params: []module.Param{{Name: "operation", Type: "string", Doc: "such as projects.search"}},
	Call: func(c *module.Call) (any, error) {
		counter := vm.State(c.In, counterKey{}, func() *counter { return nil })
		counter.mu.Lock()
		defer counter.mu.Unlock()
		return counter.calls[c.String("operation")], nil
	},
}}}
