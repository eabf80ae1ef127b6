package main

import (
	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
)

func (a *app) run() *cobra.Command {
	var job runtime.Job
	cmd := &cobra.Command{
		Use:   "run [flags] SCRIPT [ARGS...]",
		Short: "Run a script",
		Long: `Run a Lua script. Everything behind SCRIPT belongs to the script, also what
looks like a flag: transect run survey.lua --help shows the script's own help.
A script named - is read from standard input.

The platform is named in one of three ways: --local for the local platform,
--url with a login, or a configuration file with --config. Flags win over the
environment, the environment over the configuration file. The secrets can be
given in TRANSECT_PASSWORD, TRANSECT_CLIENT_SECRET and TRANSECT_ACCESS_TOKEN
too, but never on the command line, where others can see them.

For runs nobody watches: --quiet prints nothing at all unless the run fails;
then all of it, so that cron mails it. --lock lets one run at a time pass, a
lock left by a killed run is taken over. Report and metrics tell the truth also
of runs that fail, reach a limit or are told to stop; a run that was skipped for
its lock leaves both alone, tells no monitor, and only says so. Every run is
kept in the history: transect runs. TRANSECT_HISTORY says how many and how long
(500,90d), or off.

` + exitCodes,
		Example: `  transect run --local survey.lua flight/
  transect run --url https://platform.example.com --user me --password-file secret.txt survey.lua
  transect run --config connection.json --dry-run survey.lua flight/
  transect run survey.lua --help`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"), "write it like: transect run survey.lua")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return []string{"lua"}, cobra.ShellCompDirectiveFilterFileExt
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.complete(cmd.Flags(), &job); err != nil {
				return err
			}
			if err := a.completeAttendance(cmd.Flags(), &job); err != nil {
				return err
			}
			job.Script, job.Args = args[0], args[1:]
			return runtime.Attended(cmd.Context(), a.world, job)
		},
	}
	a.jobFlags(cmd, &job)
	attendFlags(cmd.Flags(), &job)
	manifestFlags(cmd, &job)
	cmd.Flags().SetInterspersed(false)
	return cmd
}
