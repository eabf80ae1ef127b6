package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/client/human"
	"transect/runtime"
	"transect/runtime/lint"
	"transect/runtime/vm"
)

func (a *app) check() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [flags] FILE...",
		Short: "Find mistakes in scripts without running them",
		Long: `Find mistakes in scripts without running them: syntax, undefined variables,
unknown managers, operations, functions and arguments, arguments of the wrong
type, misspelt fields of records and searches, results of calls that return
nothing, constant conditions, loops over what is not an iterator, unused
variables, unreachable statements, and more. Of a folder, all .lua files below it
are checked; - is standard input. Lines that end with "-- check: ignore" are
skipped.

Exit codes: 0 no problems, 1 problems were found, 2 a file cannot be read.`,
		Example: `  transect check survey.lua
  transect check --json scripts/ | jq -r '.[].message'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"), "such as: transect check survey.lua")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.checkScripts(args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON list of the problems")
	return cmd
}

func (a *app) checkScripts(args []string, asJSON bool) error {
	files, err := a.process.Scripts(args)
	if err != nil {
		return err
	}
	checker := lint.New()
	checker.Local = a.process.HasModule
	problems, bad := []lint.Problem{}, 0
	for _, file := range files {
		var code []byte
		if file == "-" {
			code, err = io.ReadAll(a.process.Stdin)
		} else {
			code, err = os.ReadFile(a.process.Path(file))
		}
		if err != nil {
			return fault.Of(&fault.UsageError{}, "cannot read %s: %w", file, fault.Reason(err))
		}
		found := checker.Script(file, code)
		if len(found) > 0 {
			bad++
		}
		problems = append(problems, found...)
	}
	if asJSON {
		err = a.printJSON(problems, "  ")
	}
	for _, p := range problems {
		if asJSON || err != nil {
			break
		}
		text := p.Message
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		_, err = fmt.Fprintf(a.stdout, "%s:%d:%d: %s [%s]\n", p.File, p.Line, p.Column, text, p.Rule)
	}
	if err != nil || bad == 0 {
		return err
	}
	if !asJSON && !a.output.Quiet {
		fmt.Fprintf(a.process.Stderr, "%s in %d of %s\n", human.Count(len(problems), "problem"), bad,
			human.Count(len(files), "script"))
	}
	return &vm.Exit{Code: runtime.ExitRaised}
}
