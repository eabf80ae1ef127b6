// Command quarry runs a script with a module of its own, tariffs, on a local platform in the same process:
//
//	quarry FOLDER SCRIPT [ARGUMENT…]
//	quarry check SCRIPT
//	quarry doc [NAME]
//	quarry stubs FOLDER
//
// The platform's data stay in the folder; the script reads no other files. check finds mistakes without running, doc
// prints documentation, and stubs writes definitions for editors: each knows the own module.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"transect/platform"
	"transect/runtime/embed"
	"transect/runtime/lint"
	"transect/runtime/module"
	"transect/runtime/reference"
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
	switch {
	case len(args) == 2 && args[0] == "check":
		return check(args[1])
	case len(args) > 0 && args[0] == "doc":
		document, _, err := reference.New(tariffs).Lookup(strings.Join(args[1:], " "))
		if err != nil {
			return err
		}
		return document.WriteText(os.Stdout)
	case len(args) == 2 && args[0] == "stubs":
		return reference.Write(args[1], reference.New(tariffs).Definitions())
	case len(args) < 2:
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

// check prints the mistakes in a script.
func check(file string) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	problems := lint.New(tariffs).Script(file, src)
	for _, p := range problems {
		fmt.Printf("%s:%d:%d: %s\n", p.File, p.Line, p.Column, p.Message)
	}
	if len(problems) > 0 {
		return errors.New("the script has mistakes")
	}
	return nil
}

var tariffs = &module.Module{Name: "tariffs", Doc: "What a survey costs.", Funcs: []module.Func{
	embed.Fn("price", "Prices a survey.", "the price, in euros", price),
}}

type survey struct {
	Hectares float64 `arg:"hectares,req" doc:"area" min:"0"`
	Rate     float64 `arg:"rate" doc:"euros a hectare" default:"12.5"`
}

func price(_ context.Context, s survey) (float64, error) { return s.Hectares * s.Rate, nil }
