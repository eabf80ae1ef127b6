package cli

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/scriptargs"
	"transect/runtime/timetable"
	"transect/runtime/unattended"
	"transect/runtime/unattended/cron"
	"transect/runtime/vm"
	"transect/scripts"
)

func (a *App) cronAdd() *cobra.Command {
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

With --resume among the run flags the job resumes its last run if that did not
succeed, and starts a new one otherwise.

The state folder and the TRANSECT_ variables of the current environment are
written to the line, except secrets: the job reads those from files
(--password-file and so on). A job that could not work is refused: without a
platform, with a file that does not exist, or with an argument that the script
does not declare.`,
		Example: `  transect cron add nightly '30 2 * * *' --config platform.json sync.lua flights/
  transect cron add --dry-run check '*/15 8-18 * * mon-fri' --local --ping https://hc.example.com/x check.lua`,
		Args: AtLeast("NAME", "EXPR, such as '30 2 * * *',", "SCRIPT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := filepath.Abs(a.Process.Dir)
			if err != nil {
				return fault.Of(&fault.ConfigError{}, "cannot find the current folder: %w", err)
			}
			env, err := a.inheritedEnv()
			if err != nil {
				return err
			}
			job, err := a.newCronJob(cmd.Context(), args[0], args[1], folder, env, args[2:])
			if err != nil {
				return err
			}
			if names := a.SecretVariables(); len(names) > 0 {
				fmt.Fprintf(a.Process.Stderr, "the job runs without %s: secrets are not written to the "+
					"crontab; what it needs must be in a file"+
					" (--password-file, --config) or kept by transect login\n", strings.Join(names, ", "))
			}
			if dryRun {
				fmt.Fprintln(a.Stdout, job.Line)
				a.PrintTimes(job.Times, a.Process.Now(), ShowTimes)
				return nil
			}
			if err := a.makeLogFolder(); err != nil {
				return err
			}
			err = a.ChangeCrontab(cmd.Context(), func(t *cron.Table) error {
				if _, missing := t.Find(job.Name); missing == nil && !replace {
					return fault.Hinted(fault.Of(&fault.UsageError{}, "the job %s exists already", job.Name),
						"add --replace before its name, or choose another one")
				}
				t.Add(job)
				return nil
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "added %s\n", job.Name)
			a.PrintTimes(job.Times, a.Process.Now(), ShowTimes)
			return nil
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "print the line, change nothing")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the job with this name")
	return cmd
}

func (a *App) makeLogFolder() error {
	if err := vm.CheckStateDir(a.Process.Env); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(a.Process.StateDir(), "logs"), 0o700); err != nil {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot create the folder for logs: %w", err),
			"name a writable state folder in TRANSECT_STATE_DIR")
	}
	return nil
}

// newCronJob makes a job of the arguments of transect run.
func (a *App) newCronJob(ctx context.Context, name, expression, folder string, env, rest []string) (*cron.Job, error) {
	if err := timetable.CheckName(name); err != nil {
		return nil, err
	}
	times, err := timetable.System(expression).Times()
	if err != nil {
		return nil, err
	}
	p := a.CronProcess(folder, env)
	job, flags, err := a.parseRun(p, rest)
	if err != nil {
		return nil, err
	}
	if job.Script, err = readableScript(p, job.Script); err != nil {
		return nil, err
	}
	given := rest[:len(rest)-1-len(job.Args)]
	if n := len(given); n > 0 && given[n-1] == "--" {
		given = given[:n-1]
	}
	if err := NoPassword("in the crontab", append(env, rest...)); err != nil {
		return nil, err
	}
	err = runtime.Preflight(ctx, p, *job)
	if err == nil {
		err = scriptargs.Check(p, *job)
	}
	if err != nil {
		return nil, a.withoutSecrets(err)
	}
	for _, flag := range []string{"report", "metrics", "log-file"} {
		if err := unattended.CheckWritable(p, flag, flags.Lookup(flag).Value.String()); err != nil {
			return nil, err
		}
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fault.Of(&fault.ConfigError{}, "cannot find the path of this program: %w", err)
	}
	command := append(append([]string{program, "run"}, a.cronPresets(name, flags)...), given...)
	return cron.NewJob(name, times, folder, env, append(append(command, job.Script), job.Args...))
}

// parseRun parses the arguments of transect run, with its own checks.
func (a *App) parseRun(p *runtime.Process, args []string) (*runtime.Job, *pflag.FlagSet, error) {
	other := a.On(p)
	run, _, err := other.Root([]string{"run"}).Find([]string{"run"})
	if err != nil {
		return nil, nil, err
	}
	if err := run.ParseFlags(args); err != nil {
		return nil, nil, run.FlagErrorFunc()(run, err)
	}
	words := run.Flags().Args()
	if len(words) == 0 { // --resume alone names no script
		return nil, nil, fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"), "such as: survey.lua")
	}
	if err := run.Args(run, words); err != nil {
		return nil, nil, err
	}
	if err := other.Complete(run.Flags(), other.job); err != nil {
		return nil, nil, err
	}
	other.job.Script, other.job.Args = words[0], words[1:]
	return other.job, run.Flags(), nil
}

// cronPresets returns the flags that every job gets unless it sets them itself.
func (a *App) cronPresets(name string, flags *pflag.FlagSet) (presets []string) {
	state, err := filepath.Abs(a.Process.StateDir())
	if err != nil {
		state = a.Process.StateDir()
	}
	for _, preset := range [][2]string{{"job", "--job=" + name}, {"lock", "--lock=" + name},
		{"log-file", "--log-file=" + filepath.Join(state, "logs", name+".log")}, {"quiet", "--quiet"}} {
		if flags == nil || !flags.Changed(preset[0]) {
			presets = append(presets, preset[1])
		}
	}
	return presets
}

// CronProcess returns the process as cron will start it: in the job's folder, with the variables of its line
// and those that every user has.
func (a *App) CronProcess(folder string, env []string) *runtime.Process {
	p := *a.Process
	p.Dir = folder
	p.Env = func(name string) (string, bool) {
		for _, word := range env {
			if key, value, _ := strings.Cut(word, "="); key == name {
				return value, true
			}
		}
		if slices.Contains([]string{"HOME", "LOGNAME", "USER"}, name) {
			return a.Process.Env(name)
		}
		return "", false
	}
	return &p
}

func readableScript(p *runtime.Process, name string) (string, error) {
	if name == "-" {
		return "", fault.Hinted(fault.Of(&fault.UsageError{}, "cron cannot read a script from standard input"), "name a file")
	}
	if scripts.IsRef(name) {
		return name, nil // of the binary
	}
	path, err := filepath.Abs(p.Path(name))
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fault.Hinted(fault.Of(&fault.UsageError{}, "cannot read the script %s: %w", name, fault.Reason(err)),
			"check the path of the script")
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", fault.Of(&fault.UsageError{}, "the script %s is a folder", name)
	}
	return path, nil
}

// inheritedEnv lists the variables the job needs to behave like the current command line: cron sets none of
// them. Secrets are left out.
func (a *App) inheritedEnv() ([]string, error) {
	state, err := filepath.Abs(a.Process.StateDir())
	if err != nil {
		return nil, fault.Of(&fault.ConfigError{}, "cannot find the state folder: %w", err)
	}
	names := []string{"XDG_CONFIG_HOME", "TRANSECT_HISTORY", "TRANSECT_SMTP", "TRANSECT_SMTP_USER", "TRANSECT_MAIL_FROM"}
	for _, o := range a.runOptions(&runtime.Job{}, &unattended.Options{}) {
		if o.Env != "" && o.Name != "lock" && o.Name != "log-file" { // the job has its own
			names = append(names, o.Env)
		}
	}
	return append([]string{"TRANSECT_STATE_DIR=" + state}, a.Environment(names)...), nil
}

// Environment lists NAME=value for the variables that are set, by name.
func (a *App) Environment(names []string) (env []string) {
	slices.Sort(names)
	for _, name := range names {
		if value := a.Process.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// SecretVariables lists the variables of the environment that are not written
// to the crontab.
func (a *App) SecretVariables() (names []string) {
	secrets := []string{"TRANSECT_SMTP_PASSWORD"}
	for _, o := range new(runtime.Connection).Options() {
		if o.Flag == "" {
			secrets = append(secrets, o.Env)
		}
	}
	return slices.DeleteFunc(secrets, func(name string) bool { return a.Process.Getenv(name) == "" })
}

// withoutSecrets explains a failure that a variable of the environment would
// have prevented.
func (a *App) withoutSecrets(err error) error {
	names := a.SecretVariables()
	f := fault.Find(err)
	if len(names) == 0 || f == nil || !is[*fault.ConfigError](err) && !is[*fault.MissingCredentialsError](err) {
		return err
	}
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s", f.Facts().Message),
		"%s is a secret and is not written to the crontab: put it into a file and name that, such as --password-file FILE, "+
			"or keep the login with transect login", strings.Join(names, ", "))
}

// NoPassword refuses addresses with a password: the arguments are stored, and visible to other users on the
// command line.
func NoPassword(where string, words []string) error {
	for i, word := range words {
		name, value, joined := strings.Cut(word, "=")
		if !joined || strings.Contains(name, "://") {
			name, value = "an argument", word
			if i > 0 && strings.HasPrefix(words[i-1], "--") {
				name = words[i-1]
			}
		}
		u, err := url.Parse(value)
		if err != nil || u.User == nil {
			continue
		}
		if _, has := u.User.Password(); has {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "%s holds a password (%s), which would be stored %s", name,
				u.Redacted(), where),
				"put it into a configuration file of mode 0600 and name that with --config; the key of a proxy is proxy_url")
		}
	}
	return nil
}
