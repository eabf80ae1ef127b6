package main

import (
	"strings"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/unattended"
)

func (a *app) plan() *cobra.Command {
	job := &runtime.Job{}
	var options unattended.Options
	o := &options.Planning
	cmd := &cobra.Command{
		Use:   "plan [flags] SCRIPT [ARGS...] [-o FILE] [--json]",
		Short: "Show what a script would write, without writing it",
		Long: `Run a script whose reads are real and whose writes are carried out in memory only,
and print what it would create, change, delete, send and order, with the lines of
the script. -o keeps the plan in a file; transect plan show FILE prints it once more,
and transect apply FILE carries it out, and nothing else. docs/plan.md says what a
plan can know.

Everyday commands take --plan: they print the plan, ask, and do exactly that.

Exit codes: 0 when nothing would be written, 8 when something would; the others are
those of transect run.`,
		Example: `  transect plan --local scripts/survey.lua testdata/flight
  transect plan --local survey.lua flight/ -o survey.plan
  transect plan survey.lua flight/ --json
  transect put card/DCIM 'North quarry' --plan`,
		ValidArgsFunction: a.completeScript(job),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args = planFlags(args, o); len(args) == 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"),
					"such as: transect plan survey.lua flight/")
			}
			if err := a.complete(cmd.Flags(), job); err != nil {
				return err
			}
			if err := completeUnattended(job, &options); err != nil {
				return err
			}
			job.Script, job.Args = args[0], args[1:]
			o.Only, o.Options, o.By = true, given(cmd.Flags(), inPlan), a.submitter()
			return unattended.Run(cmd.Context(), a.process, *job, options)
		},
	}
	a.addRunOptions(cmd.Flags(), job, &options, onCall|onLua|onRun|byItself)
	addOptions(cmd.Flags(), option{name: "output", short: "o", kind: "FILE", parse: toString(&o.Keep),
		doc: "keep the plan in FILE"}, option{name: "json", kind: "bool", parse: toBool(&o.JSON),
		doc: "print the plan as it is kept: JSON, a line for each write"})
	exclusiveManifest(cmd)
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().SetInterspersed(false)
	cmd.AddCommand(a.showPlan())
	return cmd
}

// planFlags takes the flags of transect plan from the end of the script's arguments,
// where people write them as well: those that do not stand before it.
func planFlags(args []string, o *unattended.Planning) []string {
	for n := len(args); ; n = len(args) {
		switch {
		case o.Keep == "" && n > 2 && (args[n-2] == "-o" || args[n-2] == "--output"):
			o.Keep, args = args[n-1], args[:n-2]
		case o.Keep == "" && n > 1 && strings.HasPrefix(args[n-1], "--output="):
			o.Keep, args = strings.TrimPrefix(args[n-1], "--output="), args[:n-1]
		case !o.JSON && n > 1 && args[n-1] == "--json":
			o.JSON, args = true, args[:n-1]
		default:
			return args
		}
	}
}
