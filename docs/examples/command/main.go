// Command quarry runs a script with a module of its own, tariffs, on a local platform in the same process:
//
//	quarry FOLDER SCRIPT [ARGUMENT…]
//
// The platform's data stay in the folder; the script reads no other files.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"transect/platform"
	"transect/runtime/embed"
	"transect/runtime/module"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) < 2 {
		return errors.New("usage: quarry FOLDER SCRIPT [ARGUMENT…]")
	}
	src, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	p, err := embed.Compile(args[1], src)
	if err != nil {
		return err
	}
	local, err := platform.Open(ctx, platform.Options{Dir: args[0]})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	c, err := local.Connect(ctx)
	if err != nil {
		return err
	}
	r, err := embed.New(ctx, embed.Options{Stdout: os.Stdout, Stderr: os.Stderr, Args: args[2:], Platform: c,
		Modules: []*module.Module{tariffs}})
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Run(ctx, p)
	return err
}

var tariffs = &module.Module{Name: "tariffs", Doc: "What a survey costs.", Funcs: []module.Func{{
	Name: "price", Doc: "Prices a survey.", Returns: "euros",
	Params: []module.Param{
		{Name: "hectares", Type: "number", Doc: "area"},
		{Name: "options", Type: "table", Doc: "how", Fields: []module.Param{
			{Name: "rate", Type: "number", Default: 12.5, Doc: "euros a hectare"}}},
	},
	Call: func(c *module.Call) (any, error) { return c.Number("hectares") * c.Number("rate"), nil },
}}}
