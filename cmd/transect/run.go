package main

import (
	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/debug"
	"transect/runtime/unattended"
)

func (a *app) run() *cobra.Command {
	a.job = &runtime.Job{}
	job := a.job
	var options unattended.Options
	var resume resumption
	debugging := false
	cmd := &cobra.Command{
		Use:   "run [flags] SCRIPT [ARGS...]",
		Short: "Run a script",
		Long: `Run a Lua script. Everything after SCRIPT is an argument of the script, also
flags: transect run survey.lua --help prints the script's own help. The script -
is read from standard input.

transect login keeps a platform and a login for all runs. Otherwise there are three
ways to name the platform: --local for the local platform, --url
with a login, or --config with a configuration file. Flags take precedence over
the environment, the environment over the configuration file. Secrets can also
be given in TRANSECT_PASSWORD, TRANSECT_CLIENT_SECRET and TRANSECT_ACCESS_TOKEN,
but not on the command line, where other users can see them.

Unattended runs: --quiet prints nothing unless the run fails; then it prints the
whole output, so that cron mails it. --lock runs one at a time; the lock of a
killed run is taken over. Report and metrics are also written for runs that
fail, reach a limit or are stopped; a run skipped because of its lock writes
neither and notifies no monitor. Every run is recorded in the history, see
transect runs. TRANSECT_HISTORY sets how many and how long (500,90d), or off.

A run that was killed or failed is started again with --resume: what it wrote to
the platform is taken from its ledger and not sent again (docs/surviving.md).
--resume alone goes on with the last unfinished run, --resume SCRIPT with that of
the script, in its folder, with its flags and arguments. With arguments of its
own --resume SCRIPT ARGS goes on with the last unfinished run that had the same,
or begins a new one, as a job of cron does each day.

` + exitCodes,
		Example: `  transect run --local survey.lua flight/
  transect run --url https://platform.example.com --user me --password-file secret.txt survey.lua
  transect run --config connection.json --dry-run survey.lua flight/
  transect run --resume
  transect run --run nightly-1122 --local survey.lua flight/
  transect run survey.lua --help`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && resume.name == "" {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"), "such as: transect run survey.lua")
			}
			return nil
		},
		ValidArgsFunction: a.completeScript(job),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.complete(cmd.Flags(), job); err != nil {
				return err
			}
			if err := completeUnattended(job, &options); err != nil {
				return err
			}
			resume.job = options.Job
			again, folder, err := a.begin(resume, job, args)
			if err != nil {
				return err
			}
			if again != nil {
				return a.startAgain(again, folder)
			}
			job.Script, job.Args = args[0], args[1:]
			job.Jobs.Template = a.partOfRun(cmd.Flags())
			if err := noPasswordInFlag(cmd, "jobs", job.Jobs.URL); err != nil {
				return err
			}
			if err := runtime.FromWorker(a.process, job); err != nil {
				return err
			}
			isFlag := func(name string) bool { return cmd.Flags().Lookup(name) != nil && name != "help" }
			if err := runtime.MisplacedFlag(a.process, job.Script, job.Args, "transect run", isFlag); err != nil {
				return err
			}
			if debugging {
				a.debug(job)
			}
			options.Planning.Command = a.wordsOf("run")
			return unattended.Run(cmd.Context(), a.process, *job, options)
		},
	}
	a.addRunOptions(cmd.Flags(), job, &options, onCall|onLua|onRun|byItself)
	addOptions(cmd.Flags(), option{name: "resume", kind: "RUN", empty: newestRun, parse: toString(&resume.name),
		doc: "go on with an unfinished run: that of the ID, or the last one; write --resume=RUN"})
	cmd.Flags().BoolVar(&resume.again, "again", false, "begin a new run under the ID of --run, whose run has ended well")
	cmd.Flags().BoolVar(&debugging, "debug", false, "stop at the first line, at breakpoints and at errors; "+
		"help lists the commands")
	cmd.MarkFlagsMutuallyExclusive("run", "resume")
	cmd.MarkFlagsMutuallyExclusive("resume", "again")
	exclusiveManifest(cmd)
	a.jobsFlag(cmd, &job.Jobs.URL)
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// debug puts a job under the debugger of the terminal.
func (a *app) debug(job *runtime.Job) {
	d := debug.New(a.process.AbsPath)
	d.StopAtStart()
	debug.NewConsole(d, a.process.Stdin, a.process.Stderr)
	a.process.Signals = d.Interrupts(a.process.Signals)
	job.Debugger = d
}
