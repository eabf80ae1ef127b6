package cli

import (
	"io"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/repl"
	"transect/runtime/unattended"
)

func (a *App) eval() *cobra.Command {
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
		Args:              ExactArgs(1, "CODE"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.Complete(cmd.Flags(), &job); err != nil {
				return err
			}
			job.Code = args[0]
			if job.Code == "-" {
				code, err := io.ReadAll(a.Process.Stdin)
				if err != nil {
					return fault.Of(&fault.UsageError{}, "cannot read the code from standard input: %w", err)
				}
				job.Code = string(code)
			}
			return runtime.Run(cmd.Context(), a.Process, job)
		},
	}
	a.AddRunOptions(cmd.Flags(), &job, &unattended.Options{}, OnCall|OnLua)
	return cmd
}

func (a *App) repl() *cobra.Command {
	var job runtime.Job
	cmd := &cobra.Command{
		Use:   "repl [flags]",
		Short: "Run Lua interactively",
		Long: `Run Lua interactively. All managers and modules are available without require,
the values of expressions are printed, Tab completes, and :help lists the
commands of the prompt. The prompt names the platform. The history is stored in
the state folder, without lines that may contain a secret. transect without
arguments on a terminal does the same without flags.

Ctrl-C cancels the current input and keeps the session; --timeout limits each
input. When standard input is not a terminal, its lines are run as they arrive,
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
			if err := a.Complete(cmd.Flags(), &job); err != nil {
				return err
			}
			return repl.Run(cmd.Context(), a.Process, job.With(repl.Attach(a.attach)))
		},
	}
	a.AddRunOptions(cmd.Flags(), &job, &unattended.Options{}, OnCall|OnLua)
	return cmd
}
