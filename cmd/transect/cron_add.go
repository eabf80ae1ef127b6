package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/unattended/cron"
	"transect/runtime/vm"
)

func (a *app) cronAdd() *cobra.Command {
	var dryRun, replace bool
	cmd := &cobra.Command{
		Use:   "add [--dry-run] [--replace] NAME 'EXPR' [RUN FLAGS] SCRIPT [ARGS...]",
		Short: "Run a script with cron",
		Long: `Run a script with cron. After EXPR follow the arguments of transect run; the job
runs in the current folder. Unless the flags say otherwise it gets --quiet, so
that cron mails only the output of failing runs; a lock with the job's name, so
that it never runs twice at a time; and a log file in the state folder.

EXPR is a cron expression: minute hour day-of-month month day-of-week, each *, a
value, a range a-b, a step */n or a-b/n, or a list of those; or @hourly, @daily,
@weekly, @monthly, @yearly, @reboot. When both days are given, either matches.

The TRANSECT_ variables of the current environment are written to the line,
except secrets: the job reads those from files (--password-file and so on).`,
		Example: `  transect cron add nightly '30 2 * * *' --config platform.json sync.lua flights/
  transect cron add --dry-run check '*/15 8-18 * * mon-fri' --local --ping https://hc.example.com/x check.lua`,
		Args: func(_ *cobra.Command, args []string) error {
			for i, what := range []string{"NAME", "EXPR, such as '30 2 * * *'", "SCRIPT"} {
				if len(args) <= i {
					return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is missing", what), "see: transect cron add --help")
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			state, err := filepath.Abs(a.process.StateDir())
			if err != nil {
				return err
			}
			logs := filepath.Join(state, "logs")
			job, err := a.newCronJob(args[0], args[1], args[2:], logs)
			if err != nil {
				return err
			}
			if dryRun {
				fmt.Fprintln(a.stdout, job.Line)
				a.printTimes(job.Schedule)
				return nil
			}
			if err := vm.CheckStateDir(a.process.Env); err != nil {
				return err
			}
			if err := os.MkdirAll(logs, 0o700); err != nil {
				return fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot create the folder for logs: %w", err), "name a writable state folder in TRANSECT_STATE_DIR")
			}
			err = a.changeCrontab(cmd.Context(), func(t *cron.Table) error {
				if _, missing := t.Find(job.Name); missing == nil && !replace {
					return fault.Hinted(fault.Of(&fault.UsageError{}, "the job %s exists already", job.Name), "add --replace before its name, or choose another one")
				}
				t.Add(job)
				return nil
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "added %s\n", job.Name)
			a.printTimes(job.Schedule)
			return nil
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "print the line, change nothing")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the job with this name")
	return cmd
}

// newCronJob makes a job of the arguments of transect run.
func (a *app) newCronJob(name, expression string, rest []string, logs string) (*cron.Job, error) {
	if err := cron.CheckName(name); err != nil {
		return nil, err
	}
	schedule, err := cron.Parse(expression)
	if err != nil {
		return nil, err
	}
	// The run command itself checks its flags.
	run, _, err := newApp(a.process).root().Find([]string{"run"})
	if err != nil {
		return nil, err
	}
	if err := run.ParseFlags(rest); err != nil {
		return nil, run.FlagErrorFunc()(run, err)
	}
	flags := run.Flags()
	args := flags.Args()
	if err := run.Args(run, args); err != nil {
		return nil, err
	}
	script, err := a.readableScript(args[0])
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fault.Of(&fault.ConfigError{}, "cannot find the path of this program: %w", err)
	}
	folder, err := filepath.Abs(a.process.Dir)
	if err != nil {
		return nil, fault.Of(&fault.ConfigError{}, "cannot find the current folder: %w", err)
	}
	command := []string{program, "run"}
	for _, preset := range [][2]string{{"lock", "--lock=" + name}, {"log-file", "--log-file=" + filepath.Join(logs, name+".log")}, {"quiet", "--quiet"}} {
		if !flags.Changed(preset[0]) {
			command = append(command, preset[1])
		}
	}
	given := rest[:len(rest)-len(args)]
	if n := len(given); n > 0 && given[n-1] == "--" {
		given = given[:n-1]
	}
	command = append(append(append(command, given...), script), args[1:]...)
	return cron.NewJob(name, schedule, folder, a.inheritedEnv(flags), command)
}

func (a *app) readableScript(name string) (string, error) {
	if name == "-" {
		return "", fault.Hinted(fault.Of(&fault.UsageError{}, "cron cannot read a script from standard input"), "name a file")
	}
	path, err := filepath.Abs(a.process.Path(name))
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fault.Hinted(fault.Of(&fault.UsageError{}, "cannot read the script %s: %w", name, err), "check the path of the script")
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", fault.Of(&fault.UsageError{}, "the script %s is a folder", name)
	}
	return path, nil
}

// inheritedEnv lists the variables the job needs to behave as the command line
// does now: cron sets none of them. Secrets are left out with a note.
func (a *app) inheritedEnv(flags *pflag.FlagSet) []string {
	names := []string{"TRANSECT_STATE_DIR", "XDG_STATE_HOME", "TRANSECT_HISTORY", "TRANSECT_SMTP", "TRANSECT_SMTP_USER", "TRANSECT_MAIL_FROM"}
	flags.VisitAll(func(f *pflag.Flag) {
		v, ok := f.Value.(*optionValue)
		if ok && v.env != "" && !f.Changed && f.Name != "lock" && f.Name != "log-file" { // the job has its own lock and log
			names = append(names, v.env)
		}
	})
	slices.Sort(names)
	var env []string
	for _, name := range names {
		if value := a.process.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	secrets := []string{"TRANSECT_SMTP_PASSWORD"}
	for _, o := range new(runtime.Connection).Options() {
		if o.Flag == "" {
			secrets = append(secrets, o.Env)
		}
	}
	for _, name := range secrets {
		if a.process.Getenv(name) != "" {
			fmt.Fprintf(a.process.Stderr, "note: %s is a secret and is not written to the crontab; the job needs a file, such as --password-file\n", name)
		}
	}
	return env
}
