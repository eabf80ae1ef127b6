package main

import (
	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
)

func (a *app) repl() *cobra.Command {
	var job runtime.Job
	cmd := &cobra.Command{
		Use:   "repl [flags]",
		Short: "Type Lua at a prompt and see what it gives",
		Long: `Type Lua at a prompt and see what it gives. Every manager and module is there
without require, what an expression gives is shown, Tab completes, and :help
lists the commands of the prompt. The prompt shows the platform that is worked
on. What is typed is remembered in the state folder, without lines that may
hold a secret. transect alone, on a terminal, is the same without flags.

Ctrl-C stops what runs and keeps the session; --timeout limits each input.
Where standard input is no terminal the lines from it are run as they come,
without a prompt, up to the first error.

` + exitCodes,
		Example: `  transect repl --local
  transect repl --config connection.json --profile staging
  echo 'projects.search{ limit = 3 }' | transect repl --local`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "the prompt takes no arguments, got %s", args[0]),
					"to run a script: transect run %s; at the prompt: :load %s", args[0], args[0])
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.complete(cmd.Flags(), &job); err != nil {
				return err
			}
			return runtime.Repl(cmd.Context(), a.world, job)
		},
	}
	a.jobFlags(cmd, &job)
	return cmd
}
