package main

import (
	"io"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
)

func (a *app) eval() *cobra.Command {
	var job runtime.Job
	cmd := &cobra.Command{
		Use:   "eval [flags] CODE",
		Short: "Run Lua from the command line and print its values",
		Long: `Run Lua from the command line and print the values of an expression, or of a
return. CODE - reads the code from standard input.

` + exitCodes,
		Example: `  transect eval '1 + 1'
  transect eval --local 'require("projects").search{ limit = 1 }'
  echo 'return 6 * 7' | transect eval -`,
		Args:              exactArgs(1, "CODE"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.complete(cmd.Flags(), &job); err != nil {
				return err
			}
			job.Code = args[0]
			if job.Code == "-" {
				code, err := io.ReadAll(a.process.Stdin)
				if err != nil {
					return fault.Of(&fault.UsageError{}, "cannot read the code from standard input: %w", err)
				}
				job.Code = string(code)
			}
			return runtime.Run(cmd.Context(), a.process, job)
		},
	}
	callFlags(cmd.Flags(), &job)
	a.scriptFlags(cmd.Flags(), &job)
	return cmd
}
