package main

import (
	"fmt"
	"maps"
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
		Short: "Have cron run a script",
		Long: `Have cron run a script. Behind EXPR stands what would stand behind transect run,
and it runs in the folder it was added in. Unless it says otherwise it gets
--quiet, so that cron mails what a failing run prints and nothing else; a lock
of the job's name, so that it never runs twice at once; and a log file in the
state folder.

EXPR is what cron knows: minute hour day-of-month month day-of-week, each *, a
value, a range a-b, a step */n or a-b/n, or a list of those; or @hourly, @daily,
@weekly, @monthly, @yearly, @reboot. Where both days are given, either is enough.

What TRANSECT_ variables say now goes into the line, but never secrets: the job
reads those from files (--password-file and so on).`,
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
			job, logs, err := a.cronJob(args[0], args[1], args[2:])
			if err != nil {
				return err
			}
			if dryRun {
				fmt.Fprintln(a.stdout(), job.Line)
				a.tellTimes(job.When)
				return nil
			}
			if err := vm.CheckStateDir(a.world.Env); err != nil {
				return err
			}
			if err := os.MkdirAll(logs, 0o700); err != nil {
				return fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot make the folder for logs: %w", err), "name a state folder that can be written in TRANSECT_STATE_DIR")
			}
			err = a.changeCrontab(cmd.Context(), func(t *cron.Table) error {
				if _, missing := t.Find(job.Name); missing == nil && !replace {
					return fault.Hinted(fault.Of(&fault.UsageError{}, "there is a job %s already", job.Name), "add --replace before its name, or choose another one")
				}
				t.Add(job)
				return nil
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout(), "added %s\n", job.Name)
			a.tellTimes(job.When)
			return nil
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "print the line, change nothing")
	cmd.Flags().BoolVar(&replace, "replace", false, "take the place of the job of that name")
	return cmd
}

// cronJob makes a job of a command line of run, and the folder of its log.
func (a *app) cronJob(name, expression string, rest []string) (*cron.Job, string, error) {
	if err := cron.CheckName(name); err != nil {
		return nil, "", err
	}
	when, err := cron.Parse(expression)
	if err != nil {
		return nil, "", err
	}
	// The flags are run's own: it says what is wrong with them.
	run, _, err := (&app{world: a.world}).root().Find([]string{"run"})
	if err != nil {
		return nil, "", err
	}
	if err := run.ParseFlags(rest); err != nil {
		return nil, "", run.FlagErrorFunc()(run, err)
	}
	flags := run.Flags()
	args := flags.Args()
	if err := run.Args(run, args); err != nil {
		return nil, "", err
	}
	script, err := a.scriptOfJob(args[0])
	if err != nil {
		return nil, "", err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, "", fault.Of(&fault.ConfigError{}, "cannot find out where this program is: %w", err)
	}
	folder, err := filepath.Abs(a.world.Dir)
	if err != nil {
		return nil, "", fault.Of(&fault.ConfigError{}, "cannot find out the folder: %w", err)
	}
	state, err := filepath.Abs(a.world.StateDir())
	if err != nil {
		return nil, "", err
	}
	logs := filepath.Join(state, "logs")
	command := []string{program, "run"}
	for flag, word := range map[string]string{"quiet": "--quiet", "lock": "--lock=" + name, "log-file": "--log-file=" + filepath.Join(logs, name+".log")} {
		if !flags.Changed(flag) {
			command = append(command, word)
		}
	}
	slices.Sort(command[2:])
	given := rest[:len(rest)-len(args)]
	if n := len(given); n > 0 && given[n-1] == "--" {
		given = given[:n-1]
	}
	command = append(append(append(command, given...), script), args[1:]...)
	job, err := cron.NewJob(name, when, folder, a.carried(flags), command)
	return job, logs, err
}

func (a *app) scriptOfJob(name string) (string, error) {
	if name == "-" {
		return "", fault.Hinted(fault.Of(&fault.UsageError{}, "cron cannot read a script from standard input"), "name a file")
	}
	path, err := filepath.Abs(filepath.Join(a.world.Dir, name))
	if filepath.IsAbs(name) {
		path, err = name, nil
	}
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

// carried are the variables that a job needs to do as the command line does
// here: cron knows none of them. Secrets are left out, and told of.
func (a *app) carried(flags *pflag.FlagSet) []string {
	names := map[string]string{ // variable → its flag
		"TRANSECT_STATE_DIR": "", "XDG_STATE_HOME": "", "TRANSECT_HISTORY": "", "TRANSECT_SMTP": "", "TRANSECT_SMTP_USER": "", "TRANSECT_MAIL_FROM": "",
		"TRANSECT_TIMEOUT": "timeout", "TRANSECT_PATH": "path", "TRANSECT_MAX_MEMORY": "max-memory", "TRANSECT_MAX_INSTRUCTIONS": "max-instructions",
	}
	for flag, variable := range attendVariables {
		if flag != "lock" && flag != "log-file" { // a job has its own
			names[variable] = flag
		}
	}
	secrets := []string{"TRANSECT_SMTP_PASSWORD"}
	var connection runtime.Connection
	var transfers runtime.Transfers
	for _, o := range append(connection.Options(), transfers.Options()...) {
		if o.Flag == "" {
			secrets = append(secrets, o.Env)
		} else {
			names[o.Env] = o.Flag
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if value, _ := a.world.Env(name); value != "" && (names[name] == "" || !flags.Changed(names[name])) {
			list = append(list, name+"="+value)
		}
	}
	for _, name := range secrets {
		if value, _ := a.world.Env(name); value != "" {
			fmt.Fprintf(a.world.Stderr, "note: %s is a secret and is not written into the crontab; the job needs a file, such as --password-file\n", name)
		}
	}
	return list
}
