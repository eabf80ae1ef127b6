package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/dap"
	"transect/runtime/debug"
	"transect/runtime/scriptargs"
	"transect/runtime/unattended"
)

func (a *App) run() *cobra.Command {
	a.job = &runtime.Job{}
	job := a.job
	var options unattended.Options
	var resume resumption
	debugging := false
	cmd := &cobra.Command{
		Use:   "run [flags] SCRIPT [ARGS...]",
		Short: "Run a script",
		Long: `Run a Lua script. Everything after SCRIPT is an argument of the script, even
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
--resume alone resumes the last unfinished run, --resume SCRIPT the last one of the
script, in its folder, with its flags and arguments. --resume SCRIPT ARGS resumes
the last unfinished run with the same arguments, or starts a new one, as a cron job
does each day.

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
			if err := a.Complete(cmd.Flags(), job); err != nil {
				return err
			}
			if err := completeUnattended(job, &options); err != nil {
				return err
			}
			resume.job = options.Job
			if debugging && a.debugger == nil {
				a.debug()
			}
			again, folder, err := a.begin(resume, job, args)
			if err != nil {
				return err
			}
			if again != nil {
				return a.StartAgain(again, folder)
			}
			job.Script, job.Args = args[0], args[1:]
			for part := range runtime.PartsOf[Completer](a.parts) {
				if err := part.Complete(a, cmd, job); err != nil {
					return err
				}
			}
			isFlag := func(name string) bool { return cmd.Flags().Lookup(name) != nil && name != "help" }
			if err := scriptargs.MisplacedFlag(a.Process, job.Script, job.Args, "transect run", isFlag); err != nil {
				return err
			}
			if a.debugger != nil {
				*job = job.With(a.debugger)
			}
			options.Planning.Options, options.Planning.By = given(cmd.Flags(), InPlan), a.UserName()
			if resume.name == "" {
				if err := a.offer(cmd.Context(), job, &options); err != nil {
					return err
				}
			}
			return unattended.Run(cmd.Context(), a.Process, *job, options)
		},
	}
	a.AddRunOptions(cmd.Flags(), job, &options, OnCall|OnLua|OnRun|ByItself)
	AddOptions(cmd.Flags(), Option{Name: "resume", Kind: "RUN", Empty: newestRun, Parse: ToString(&resume.name),
		Doc: "resume an unfinished run: RUN, or the last one; write --resume=RUN"})
	cmd.Flags().BoolVar(&resume.again, "again", false, "start a new run under the ID of --run after one that succeeded")
	cmd.Flags().BoolVar(&debugging, "debug", false, "stop at the first line, at breakpoints and at errors; "+
		"help lists the commands")
	cmd.MarkFlagsMutuallyExclusive("run", "resume")
	cmd.MarkFlagsMutuallyExclusive("resume", "again")
	exclusiveManifest(cmd)
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// debug puts the run under the debugger of the terminal.
func (a *App) debug() {
	d := debug.New(a.Process.AbsPath)
	d.StopAtStart()
	debug.NewConsole(d, a.Process.Stdin, a.Process.Stderr)
	a.Process.Signals = d.Interrupts(a.Process.Signals)
	a.debugger = d
}

func (a *App) dap() *cobra.Command {
	return &cobra.Command{
		Use:   "dap",
		Short: "Let an editor debug scripts: breakpoints, steps, variables, errors",
		Long: `Let an editor debug a script over the Debug Adapter Protocol, on standard input
and output. Editors start it; transect init writes the settings of Visual Studio
Code and Neovim. What a launch configuration may contain:

  program      the script
  args         its arguments, a list
  local        true runs it on the local platform
  profile      a profile of the configuration file
  flags        other flags of transect run, a list, such as ["--dry-run"]
  cwd, env     the folder to run in; environment variables
  stopOnEntry  true stops at the first line`,
		Example: `  transect dap`,
		Args:    ExactArgs(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, release := a.Process.CancelOnSignal(cmd.Context())
			defer release()
			if err := dap.New(a.launch).Serve(ctx, a.Process.Stdin, a.Stdout); err != nil {
				return fault.Of(&fault.UsageError{}, "%w", err)
			}
			return nil
		},
	}
}

// launch runs a script for an editor.
func (a *App) launch(l dap.Launch) (code int) {
	p := *a.Process
	p.Args, p.Stdin, p.Stdout, p.Stderr, p.Signals = l.Words, strings.NewReader(""), l.Stdout, l.Stderr, l.Signals
	if err := os.Chdir(l.Dir); err != nil {
		p.Dir = l.Dir // it says what is wrong
	}
	p.IsTerminal = func(any) bool { return false }
	p.Env = func(name string) (string, bool) {
		if value, set := l.Env[name]; set {
			if value == nil {
				return "", false
			}
			return *value, true
		}
		return a.Process.Env(name)
	}
	other := a.On(&p)
	other.debugger = l.Debugger
	return other.Execute()
}
