package main

import (
	"io"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/reference"
)

func (a *app) api() *cobra.Command {
	var job runtime.Job
	cmd := &cobra.Command{
		Use:   "api [flags] MANAGER.OPERATION [JSON|-]",
		Short: "Call one operation and print its result as JSON",
		Long: `Call one operation and print its result as JSON. The arguments are a JSON object
by name; - reads them from standard input. Iterators such as search_generator
print one JSON value per line as they arrive; an operation that returns nothing
prints nothing. Arguments are checked as in a script: transect doc
MANAGER.OPERATION shows them. Keys under "extra" are sent unchanged.

` + exitCodes,
		Example: `  transect api --local users.describe
  transect api --local projects.search '{"filter": {"name": {"$eq": "North"}}, "limit": 1}'
  transect api --local missions.search_generator | jq -r .name
  echo '{"project": "5f3c…", "name": "South"}' | transect api projects.update_name -`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return fault.Hinted(fault.Of(&fault.UsageError{}, "MANAGER.OPERATION is missing"),
					"transect doc lists the managers")
			case len(args) > 2:
				return fault.Hinted(fault.Of(&fault.UsageError{}, "unexpected argument %s", args[2]),
					"quote the JSON, so that the shell takes it as one argument")
			}
			return nil
		},
		ValidArgsFunction: completeNames((*reference.Reference).Operations),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.complete(cmd.Flags(), &job); err != nil {
				return err
			}
			entry, err := reference.New().FindOperation(args[0])
			if err != nil {
				return err
			}
			req := runtime.Request{Manager: entry.Manager, Operation: entry.Operation}
			if len(args) == 2 {
				req.Arguments = []byte(args[1])
			}
			if string(req.Arguments) == "-" {
				if req.Arguments, err = io.ReadAll(a.process.Stdin); err != nil {
					return fault.Of(&fault.UsageError{}, "cannot read the arguments from standard input: %w", err)
				}
			}
			return runtime.Call(cmd.Context(), a.process, job, req)
		},
	}
	a.callFlags(cmd.Flags(), &job)
	return cmd
}
